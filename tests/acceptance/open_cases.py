# SPDX-License-Identifier: Apache-2.0
"""Models that PyTorch exports with open dimensions, and the sizes that their code names."""

import functools
import importlib
import re

from tests.acceptance.open_export import AUTO, DIM, DYNAMIC, NAMES, Export
from tests.acceptance.own_sizes import ANY

_OPEN_MODULES = "tests.acceptance.open_modules."


def _call(path, *arguments, **options):
    """Calls the constructor with the given dotted name."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)(*arguments, **options)


def _image(make, edges, source, form, height="height", width="width"):
    return Export(make, {"x": ("batch", 3, height, width)},
                  dict(zip((height, width), edges)), source, form)


# Constructors of torchvision.models: the image's edge, and the file and class of weights that
# contain this size.
_TORCHVISION = {
    "resnet18": (224, "resnet", "ResNet18_Weights", DIM),
    "mobilenet_v3_small": (224, "mobilenetv3", "MobileNet_V3_Small_Weights", DYNAMIC),
    "shufflenet_v2_x0_5": (224, "shufflenetv2", "ShuffleNet_V2_X0_5_Weights", AUTO),
    "squeezenet1_1": (224, "squeezenet", "SqueezeNet1_1_Weights", NAMES),
    "efficientnet_b0": (224, "efficientnet", "EfficientNet_B0_Weights", DIM),
    "densenet121": (224, "densenet", "DenseNet121_Weights", DYNAMIC),
    "regnet_y_400mf": (224, "regnet", "RegNet_Y_400MF_Weights", NAMES),
    "segmentation.lraspp_mobilenet_v3_large": (
        520, "segmentation/lraspp", "LRASPP_MobileNet_V3_Large_Weights", DIM),
    "segmentation.deeplabv3_mobilenet_v3_large": (
        520, "segmentation/deeplabv3", "DeepLabV3_MobileNet_V3_Large_Weights", NAMES),
}
# Parts of torchvision's detectors: the image's shorter edge, the file, the function or class, and
# the line with the size.
_DETECTORS = {
    "fasterrcnn_mobilenet_v3_large_320_fpn, backbone": (
        "fasterrcnn_backbone", 320, "faster_rcnn", "^def fasterrcnn_mobilenet_v3_large_320_fpn",
        '"min_size": 320', DYNAMIC),
    "ssdlite320_mobilenet_v3_large, network": (
        "ssdlite", 320, "ssdlite", "^def ssdlite320_mobilenet_v3_large", r"size = \(320, 320\)",
        NAMES),
    "RetinaNet, network": (
        "retinanet", 800, "retinanet", r"^class RetinaNet\(", "min_size=800", NAMES),
}
# Models of timm: the image's edge, the file, and a text before the line with this size.
_CONFIGURATION = r"^def _cfg\("
_TIMM = {
    "resnet10t": (176, "resnet", r"'resnet10t\.", DIM),
    "mobilenetv3_small_050": (224, "mobilenetv3", _CONFIGURATION, AUTO),
    "mobilenetv4_conv_small_050": (224, "mobilenetv3", _CONFIGURATION, NAMES),
    "tf_efficientnet_lite0": (224, "efficientnet", _CONFIGURATION, DYNAMIC),
    "convnext_atto": (224, "convnext", _CONFIGURATION, NAMES),
    "regnety_002": (224, "regnet", r"^def _cfgpyc\(", DYNAMIC),
    "ghostnet_050": (224, "ghostnet", _CONFIGURATION, DIM),
    "repvit_m0_9": (224, "repvit", _CONFIGURATION, NAMES),
    "hgnetv2_b0": (224, "hgnet", _CONFIGURATION, AUTO),
    "mambaout_femto": (224, "mambaout", _CONFIGURATION, DIM),
    "poolformerv2_s12": (224, "metaformer", _CONFIGURATION, NAMES),
    "test_resnet": (160, "resnet", r"'test_resnet\.", DYNAMIC),
    "mobilevit_xxs": (256, "mobilevit", _CONFIGURATION, DYNAMIC),
    "edgenext_xx_small": (256, "edgenext", _CONFIGURATION, DIM),
    "xcit_nano_12_p16_224": (224, "xcit", _CONFIGURATION, NAMES),
    "fastvit_t8": (256, "fastvit", _CONFIGURATION, DIM),
    "pvt_v2_b0": (224, "pvt_v2", _CONFIGURATION, DYNAMIC),
    "test_vit": (160, "vision_transformer", r"'test_vit\.", AUTO),
    "hrnet_w18_small": (224, "hrnet", _CONFIGURATION, DIM),
}
_TIMM_OPTIONS = {"test_resnet": {"features_only": True}, "test_vit": {"dynamic_img_size": True}}
_MULTIPLES = {"hrnet_w18_small": ("32*rows", "32*columns")}
# Models that accept one size of image, so only the batch is open.
_ONE_SIZE = {
    "timm/vit_tiny_patch16_224": DIM,
    "timm/deit_tiny_patch16_224": NAMES,
    "timm/eva02_tiny_patch14_224": DYNAMIC,
    "timm/mixer_s32_224": AUTO,
    "timm/levit_128s": DIM,
}

_SMALL = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
          "intermediate_size": 512}
_SOUND = {"hidden_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
          "intermediate_size": 192, "conv_dim": (64,) * 7, "num_conv_pos_embeddings": 16,
          "num_conv_pos_embedding_groups": 4}
_SEQ2SEQ = {"d_model": 96, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
            "decoder_attention_heads": 4, "encoder_ffn_dim": 256, "decoder_ffn_dim": 256}
_DECODER = {"vocab_size": 2000, "hidden_size": 96, "num_hidden_layers": 2, "use_cache": False}
# Models of tokens by class name: the configuration's class and its arguments, the size of the
# vocabulary, the longest sequence (None: no limit), and the configuration's file.
_TEXT = {
    "BertModel": ("BertConfig", _SMALL, 30522, 512, "bert", DIM),
    "DistilBertForSequenceClassification": (
        "DistilBertConfig", {"dim": 128, "n_layers": 2, "n_heads": 4, "hidden_dim": 512},
        30522, 512, "distilbert", DYNAMIC),
    "AlbertModel": ("AlbertConfig", dict(_SMALL, embedding_size=64), 30000, 512, "albert", NAMES),
    "ElectraForTokenClassification": (
        "ElectraConfig", dict(_SMALL, embedding_size=64), 30522, 512, "electra", AUTO),
    "MPNetModel": ("MPNetConfig", _SMALL, 30527, 512, "mpnet", NAMES),
    "GPT2Model": ("GPT2Config", {"n_embd": 96, "n_layer": 2, "n_head": 4, "use_cache": False},
                  50257, 1024, "gpt2", DIM),
    "OPTForCausalLM": (
        "OPTConfig", dict(_DECODER, num_attention_heads=4, ffn_dim=384, word_embed_proj_dim=96),
        2000, 2048, "opt", NAMES),
    "LlamaForCausalLM": (
        "LlamaConfig", dict(_DECODER, num_attention_heads=6, num_key_value_heads=2,
                            intermediate_size=256), 2000, 2048, "llama", DYNAMIC),
    "T5EncoderModel": ("T5Config", {"d_model": 128, "d_kv": 32, "d_ff": 256, "num_layers": 2,
                                    "num_heads": 4}, 32128, None, "t5", DIM),
    "BartModel": ("BartConfig", dict(_SEQ2SEQ, vocab_size=5000, use_cache=False), 5000, 1024,
                  "bart", DIM),
    "CLIPTextModel": ("CLIPTextConfig", dict(_SMALL, intermediate_size=256), 49408, 77, "clip",
                      NAMES),
    "DebertaV2Model": (
        "DebertaV2Config", dict(_SMALL, vocab_size=8000, relative_attention=True,
                                pos_att_type=["p2c", "c2p"], max_position_embeddings=512),
        8000, 512, "deberta_v2", AUTO),
}
# Models of images: the edge, and the file and line that contain this size.
_IMAGES = {
    "Dinov2Model": ("Dinov2Config", {"hidden_size": 128, "num_hidden_layers": 2,
                                     "num_attention_heads": 4}, 224,
                    "dinov2/configuration_dinov2", "image_size: .* = 224", AUTO),
    "SegformerForSemanticSegmentation": (
        "SegformerConfig", {}, 512, "segformer/image_processing_segformer",
        'size = {"height": 512, "width": 512}', DIM),
    "ConvNextModel": ("ConvNextConfig", {"depths": [1, 1, 2, 1], "hidden_sizes": [32, 64, 96, 128]},
                      224, "convnext/configuration_convnext", "image_size: .* = 224", NAMES),
    # With smaller weights, the epsilon of batch normalization dominates.
    "MobileViTModel": ("MobileViTConfig", {"initializer_range": 0.2}, 256,
                       "mobilevit/configuration_mobilevit", "image_size: .* = 256", AUTO),
}
# Models with only the batch open: the input and its shape.
_ONE_SHAPE = {
    "CLIPVisionModel": ("CLIPVisionConfig", _SMALL, "pixel_values", (3, 224, 224), DYNAMIC),
    "ViTModel": ("ViTConfig", _SMALL, "pixel_values", (3, 224, 224), DIM),
    "ASTForAudioClassification": ("ASTConfig", _SMALL, "input_values", (1024, 128), DIM),
}
# Models of sound, one second long.
_WAVES = {"Wav2Vec2ForCTC": ("Wav2Vec2Config", DIM), "HubertModel": ("HubertConfig", DYNAMIC)}


def _transformer(name, config, options):
    transformers = importlib.import_module("transformers")
    return getattr(transformers, name)(getattr(transformers, config)(**options))


def _gpt_step():
    model = _transformer("GPT2LMHeadModel", "GPT2Config", {"vocab_size": 2000, "n_embd": 96,
                                                           "n_layer": 2, "n_head": 4})
    return _call(_OPEN_MODULES + "GptStep", model)


def _whisper_encoder():
    return _transformer("WhisperModel", "WhisperConfig",
                        dict(_SEQ2SEQ, decoder_layers=1)).get_encoder()


def _torchvision_cases():
    video = ("batch", 3, "frames", "height", "width")
    cases = {
        "VisionTransformer": Export(
            functools.partial(_call, "torchvision.models.VisionTransformer", image_size=224,
                              patch_size=16, num_layers=4, num_heads=3, hidden_dim=192,
                              mlp_dim=768),
            {"x": ("batch", 3, 224, 224)}, {}, (), DIM),
        "SwinTransformer": Export(
            functools.partial(_call, "torchvision.models.SwinTransformer", patch_size=[4, 4],
                              embed_dim=48, depths=[2, 2, 2], num_heads=[3, 6, 12],
                              window_size=[7, 7]),
            {"x": ("batch", 3, 224, 224)}, {}, (), DIM),
        "video.mc3_18": Export(
            functools.partial(_call, "torchvision.models.video.mc3_18"), {"x": video},
            {"frames": 16, "height": 112, "width": 112},
            ("torchvision/models/video/resnet.py", "^class MC3_18_Weights",
             r"crop_size=\(112, 112\)"), DIM),
        "video.s3d": Export(
            functools.partial(_call, "torchvision.models.video.s3d"),
            {"x": ("batch", 3, "frames", 224, 224)}, {"frames": (14, None)},
            ("torchvision/models/video/s3d.py", "^class S3D_Weights", '"min_temporal_size": 14'),
            NAMES)}
    for name, (edge, file, weights, form) in _TORCHVISION.items():
        source = ("torchvision/models/%s.py" % file, "^class %s" % weights,
                  r"(crop|resize)_size=%d\b" % edge)
        make = functools.partial(_call, "tests.acceptance.vision_cases.constructed", name)
        cases[name] = _image(make, (edge, edge), source, form)
    for name, (part, edge, file, above, line, form) in _DETECTORS.items():
        source = ("torchvision/models/detection/%s.py" % file, above, line)
        cases["detection." + name] = _image(
            functools.partial(_call, _OPEN_MODULES + part), (edge, edge), source, form)
    return {"torchvision/" + name: case for name, case in cases.items()}


def _timm_cases():
    cases = {}
    for name, (edge, file, above, form) in _TIMM.items():
        source = ("timm/models/%s.py" % file, above,
                  r"input_size['\"]?(: |=)\(3, %d, %d\)" % (edge, edge))
        make = functools.partial(_call, "timm.create_model", name, **_TIMM_OPTIONS.get(name, {}))
        cases["timm/" + name] = _image(make, (edge, edge), source, form,
                                       *_MULTIPLES.get(name, ("height", "width")))
    for name, form in _ONE_SIZE.items():
        make = functools.partial(_call, "timm.create_model", name.partition("/")[2])
        cases[name] = Export(make, {"x": ("batch", 3, 224, 224)}, {}, (), form)
    return cases


def _text_case(name, config, options, vocabulary, most, file, form):
    text = {"input_ids": ("batch", "sequence"), "attention_mask": ("batch", "sequence")}
    integers = {"input_ids": range(3, vocabulary), "attention_mask": range(1, 2)}
    own = {"sequence": (1, most) if most else ANY}
    line = r"(max_position_embeddings|n_positions): int = %s\b" % most
    if most is None:
        line = "relative_attention_max_distance: int"  # no limit: positions are relative
    if name == "BertModel":
        text["token_type_ids"], integers["token_type_ids"] = text["input_ids"], range(2)
    if name == "MPNetModel":
        own["sequence"] = (1, most - 2)  # positions begin at 2
    if name == "BartModel":
        text["decoder_input_ids"] = ("batch", "decoder_sequence")
        integers["decoder_input_ids"] = range(3, vocabulary)
        own["decoder_sequence"] = (1, most)
    source = ("transformers/models/%s/configuration_%s.py" % (file, file), line)
    return Export(functools.partial(_transformer, name, config, options), text, own, source, form,
                  integers, by_name=True)


def _transformers_cases():
    cases = {name: _text_case(name, *row) for name, row in _TEXT.items()}
    keys = ("key_0", "value_0", "key_1", "value_1")
    cases["GPT2LMHeadModel, one step"] = Export(
        _gpt_step, {"input_ids": ("batch", 1), "attention_mask": ("batch", "past + 1"),
                    **{key: ("batch", 4, "past", 24) for key in keys}},
        {"past": (1, 1023), "past + 1": (2, 1024)},
        ("transformers/models/gpt2/configuration_gpt2.py", "n_positions: int = 1024"), DIM,
        {"input_ids": range(2000), "attention_mask": range(1, 2)}, by_name=True)
    for name, (config, options, edge, file, line, form) in _IMAGES.items():
        make = functools.partial(_transformer, name, config, options)
        cases[name] = Export(make, {"pixel_values": ("batch", 3, "height", "width")},
                             {"height": edge, "width": edge},
                             ("transformers/models/%s.py" % file, line), form, by_name=True)
    for name, (config, options, argument, shape, form) in _ONE_SHAPE.items():
        make = functools.partial(_transformer, name, config, options)
        cases[name] = Export(make, {argument: ("batch", *shape)}, {}, (), form, by_name=True)
    cases["WhisperModel, encoder"] = Export(
        _whisper_encoder, {"input_features": ("batch", 80, 3000)}, {}, (), NAMES, by_name=True)
    for name, (config, form) in _WAVES.items():
        make = functools.partial(_transformer, name, config, _SOUND)
        cases[name] = Export(
            make, {"input_values": ("batch", "samples")}, {"samples": 16000},
            ("transformers/models/wav2vec2/feature_extraction_wav2vec2.py", "sampling_rate=16000,"),
            form, by_name=True)
    return {"transformers/" + name: case for name, case in cases.items()}


# Layers: the constructor, the shapes, the sizes of the example in the class's documentation, and
# the file, the class and the line of the example.
_PAIRS = {"input": ("sequence", "batch", 10)}
_LAYERS = {
    "LSTM": (
        functools.partial(_call, "torch.nn.LSTM", 10, 20, 2), _PAIRS, {"sequence": 5, "batch": 3},
        "rnn", "^class LSTM", "input = torch.randn(5, 3, 10)", DIM),
    "GRU": (
        functools.partial(_call, "torch.nn.GRU", 10, 20, 2, bidirectional=True), _PAIRS,
        {"sequence": 5, "batch": 3}, "rnn", "^class GRU", "input = torch.randn(5, 3, 10)", NAMES),
    "TransformerEncoder": (
        functools.partial(_call, _OPEN_MODULES + "encoder"), {"src": ("batch", "sequence", 512)},
        {"batch": 32, "sequence": 10}, "transformer", "^class TransformerEncoderLayer",
        "src = torch.rand(32, 10, 512)", DIM),
    "Transformer": (
        functools.partial(_call, "torch.nn.Transformer", nhead=8, num_encoder_layers=2,
                          num_decoder_layers=2, dim_feedforward=512, batch_first=True),
        {"src": ("batch", "source", 512), "tgt": ("batch", "target", 512)},
        {"batch": 32, "source": 10, "target": 20}, "transformer", r"^class Transformer\(",
        "tgt = torch.rand((32, 20, 512))", NAMES),
    "Conv1d": (
        functools.partial(_call, _OPEN_MODULES + "Convolutions"), {"x": ("batch", 16, "length")},
        {"batch": 20, "length": 50}, "conv", "^class Conv1d", "input = torch.randn(20, 16, 50)",
        DYNAMIC),
    "GroupNorm": (
        functools.partial(_call, _OPEN_MODULES + "Unet"), {"x": ("batch", 6, "height", "width")},
        {"batch": 20, "height": 10, "width": 10}, "normalization", "^class GroupNorm",
        "input = torch.randn(20, 6, 10, 10)", DIM),
    "EmbeddingBag": (
        functools.partial(_call, _OPEN_MODULES + "Bag"),
        {"tokens": ("tokens",), "offsets": ("bags",)}, {"tokens": 8, "bags": 2}, "sparse",
        "^class EmbeddingBag", "input = torch.tensor([1, 2, 4, 5, 4, 3, 2, 9]", DIM),
    "Embedding": (
        functools.partial(_call, _OPEN_MODULES + "TokenMean"), {"tokens": ("batch", "tokens")},
        {"batch": 2, "tokens": 4}, "sparse", "^class Embedding",
        "input = torch.LongTensor([[1, 2, 4, 5], [4, 3, 2, 9]])", AUTO),
}


def _torch_cases():
    integers = {"tokens": range(10), "offsets": range(1)}
    cases = {}
    for name, (make, shapes, own, file, above, line, form) in _LAYERS.items():
        source = ("torch/nn/modules/%s.py" % file, above, re.escape(line))
        cases["torch/nn." + name] = Export(make, shapes, own, source, form, integers)
    return cases


def cases():
    """Returns the exports by name."""
    return {**_torchvision_cases(), **_timm_cases(), **_transformers_cases(), **_torch_cases()}
