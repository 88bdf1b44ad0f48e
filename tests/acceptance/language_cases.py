# SPDX-License-Identifier: Apache-2.0
"""Small models of transformers with random weights, so nothing is downloaded."""

import functools
import importlib

_TOKENS = 24
_VOCABULARY = 200

# Sizes of most configurations.
_ENCODER = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
            "intermediate_size": 128, "vocab_size": _VOCABULARY, "max_position_embeddings": 64}
_DECODER = dict(_ENCODER, num_key_value_heads=2, pad_token_id=0, head_dim=16)
_GPT = {"n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": _VOCABULARY}
_IMAGE = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
          "intermediate_size": 128, "image_size": 64, "patch_size": 16}

# Models of tokens by class name: the configuration's class and its arguments.
_TEXT = {
    "AlbertModel": ("AlbertConfig", dict(_ENCODER, embedding_size=32)),
    "BertForSequenceClassification": ("BertConfig", _ENCODER),
    "BertModel": ("BertConfig", _ENCODER),
    "BloomForCausalLM": ("BloomConfig", {"hidden_size": 64, "n_layer": 2, "n_head": 4,
                                         "vocab_size": _VOCABULARY}),
    "CLIPTextModel": ("CLIPTextConfig", dict(_ENCODER, eos_token_id=1)),
    "ConvBertModel": ("ConvBertConfig", dict(_ENCODER, embedding_size=64)),
    "DebertaV2Model": ("DebertaV2Config", _ENCODER),
    "DistilBertModel": ("DistilBertConfig", {"dim": 64, "n_layers": 2, "n_heads": 4,
                                             "hidden_dim": 128, "vocab_size": _VOCABULARY}),
    "ElectraModel": ("ElectraConfig", dict(_ENCODER, embedding_size=32)),
    "FNetModel": ("FNetConfig", _ENCODER),
    "FalconForCausalLM": ("FalconConfig", {"hidden_size": 64, "num_hidden_layers": 2,
                                           "num_attention_heads": 4, "vocab_size": _VOCABULARY}),
    "GPT2LMHeadModel": ("GPT2Config", _GPT),
    "GPTJForCausalLM": ("GPTJConfig", dict(_GPT, rotary_dim=8)),
    "GPTNeoForCausalLM": ("GPTNeoConfig", {
        "hidden_size": 64, "num_layers": 2, "num_heads": 4, "vocab_size": _VOCABULARY,
        "attention_types": [[["global", "local"], 1]], "max_position_embeddings": 64}),
    "GPTNeoXForCausalLM": ("GPTNeoXConfig", _ENCODER),
    "GemmaForCausalLM": ("GemmaConfig", _DECODER),
    "LlamaForCausalLM": ("LlamaConfig", _DECODER),
    "MPNetModel": ("MPNetConfig", _ENCODER),
    "MistralForCausalLM": ("MistralConfig", _DECODER),
    "MobileBertModel": ("MobileBertConfig", dict(_ENCODER, embedding_size=32,
                                                 intra_bottleneck_size=32)),
    "OPTForCausalLM": ("OPTConfig", {
        "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 128,
        "vocab_size": _VOCABULARY, "max_position_embeddings": 64, "word_embed_proj_dim": 64}),
    "PhiForCausalLM": ("PhiConfig", _ENCODER),
    "Qwen2ForCausalLM": ("Qwen2Config", _DECODER),
    "RoFormerModel": ("RoFormerConfig", dict(_ENCODER, embedding_size=64)),
    "RobertaModel": ("RobertaConfig", _ENCODER),
    "SqueezeBertModel": ("SqueezeBertConfig", dict(_ENCODER, embedding_size=64)),
    "T5EncoderModel": ("T5Config", {"d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2,
                                    "num_heads": 4, "vocab_size": _VOCABULARY}),
    "XLNetModel": ("XLNetConfig", {"d_model": 64, "n_layer": 2, "n_head": 4, "d_inner": 128,
                                   "vocab_size": _VOCABULARY}),
}
# Models of images.
_IMAGES = {
    "BeitModel": ("BeitConfig", _IMAGE),
    "CLIPVisionModel": ("CLIPVisionConfig", _IMAGE),
    "ConvNextModel": ("ConvNextConfig", {"depths": [1, 1, 2, 1], "hidden_sizes": [16, 32, 48, 64],
                                         "image_size": 64}),
    "DeiTModel": ("DeiTConfig", _IMAGE),
    "Dinov2Model": ("Dinov2Config", _IMAGE),
    "SegformerForSemanticSegmentation": ("SegformerConfig", {
        "depths": [1, 1, 1, 1], "hidden_sizes": [16, 32, 64, 64], "decoder_hidden_size": 64}),
    "SwinModel": ("SwinConfig", {"image_size": 64, "patch_size": 4, "embed_dim": 24,
                                 "depths": [1, 1, 2], "num_heads": [2, 4, 8], "window_size": 4}),
    "ViTModel": ("ViTConfig", _IMAGE),
}
# Models of sound, about one second long.
_SOUND = {
    "HubertModel": ("HubertConfig", {}),
    "Wav2Vec2Model": ("Wav2Vec2Config", {}),
}
_SOUND_SIZES = dict(_ENCODER, conv_dim=(32, 32, 32), conv_stride=(5, 4, 4), conv_kernel=(10, 8, 4),
                    num_feat_extract_layers=3, num_conv_pos_embeddings=16,
                    num_conv_pos_embedding_groups=4)


def _model(name, config, options):
    transformers = importlib.import_module("transformers")
    made = getattr(transformers, config)(**options)
    if hasattr(made, "use_cache"):
        made.use_cache = False
    # Computes attention as products and a softmax, which both exporters can write.
    made._attn_implementation = "eager"  # pylint: disable=protected-access
    return getattr(transformers, name)(made)


def _text(name, config, options):
    torch = importlib.import_module("torch")
    tokens = torch.randint(2, _VOCABULARY, (1, _TOKENS))
    return _model(name, config, options), (tokens,)


def _image(name, config, options):
    torch = importlib.import_module("torch")
    return _model(name, config, options), (torch.rand(1, 3, 64, 64),)


def _sound(name, config, options):
    torch = importlib.import_module("torch")
    return _model(name, config, dict(_SOUND_SIZES, **options)), (torch.rand(1, 8000),)


def cases():
    """Returns functions by name. Each function creates a module and its inputs."""
    make = {}
    for table, function in ((_TEXT, _text), (_IMAGES, _image), (_SOUND, _sound)):
        for name, (config, options) in table.items():
            make["transformers/" + name] = functools.partial(function, name, config, options)
    return make
