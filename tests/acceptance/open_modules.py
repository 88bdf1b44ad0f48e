# SPDX-License-Identifier: Apache-2.0
"""Modules of open_cases.py that are not classes of a framework: parts of models, and small modules
of PyTorch's layers."""

import importlib

from tests.acceptance import vision_cases

torch = importlib.import_module("torch")
nn = torch.nn


def ssdlite():
    detector = vision_cases.constructed("detection.ssdlite320_mobilenet_v3_large")
    return vision_cases.network_of(detector)


def fasterrcnn_backbone():
    return vision_cases.constructed("detection.fasterrcnn_mobilenet_v3_large_320_fpn").backbone


def retinanet():
    """Returns RetinaNet on ResNet-18, the smallest that its constructors can build."""
    detection = importlib.import_module("torchvision.models.detection")
    pyramid = importlib.import_module("torchvision.ops.feature_pyramid_network")
    backbone = detection.backbone_utils.resnet_fpn_backbone(
        backbone_name="resnet18", weights=None, returned_layers=[2, 3, 4],
        extra_blocks=pyramid.LastLevelP6P7(256, 256))
    return vision_cases.network_of(detection.RetinaNet(backbone, num_classes=91))


def encoder():
    """Returns two layers like the one in the example of the class's documentation."""
    layer = nn.TransformerEncoderLayer(d_model=512, nhead=8, batch_first=True)
    return nn.TransformerEncoder(layer, num_layers=2)


class GptStep(nn.Module):
    """One decoding step of GPT-2 with two layers. Keys and values are inputs and outputs."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, key_0, value_0, key_1, value_1):
        cache = importlib.import_module("transformers").DynamicCache()
        cache.update(key_0, value_0, 0)
        cache.update(key_1, value_1, 1)
        out = self.model(input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache,
                         use_cache=True)
        layers = out.past_key_values.layers
        return (out.logits, layers[0].keys, layers[0].values, layers[1].keys, layers[1].values)


class Convolutions(nn.Module):
    """One-dimensional convolutions: strided, dilated, and transposed."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(16, 33, 3, stride=2), nn.BatchNorm1d(33), nn.ReLU(), nn.MaxPool1d(2, 2),
            nn.Conv1d(33, 48, 5, padding=4, dilation=2), nn.GELU(),
            nn.ConvTranspose1d(48, 24, 4, stride=2, padding=1))
        self.out = nn.Linear(24, 10)

    def forward(self, x):
        y = self.net(x)
        return y, self.out(y.mean(-1))


def _block(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1), nn.GroupNorm(3, outputs), nn.SiLU(),
        nn.Conv2d(outputs, outputs, 3, padding=1), nn.GroupNorm(3, outputs), nn.SiLU())


class Unet(nn.Module):
    """Two steps down and two steps up. Each step up restores the size before the matching step
    down."""

    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([_block(6, 12), _block(12, 24), _block(24, 48)])
        self.narrow = nn.ModuleList([nn.Conv2d(48, 24, 1), nn.Conv2d(24, 12, 1)])
        self.up = nn.ModuleList([_block(48, 24), _block(24, 12)])
        self.out = nn.Conv2d(12, 2, 1)

    def forward(self, x):
        functional = nn.functional
        a = self.down[0](x)
        b = self.down[1](functional.max_pool2d(a, 2))
        y = self.narrow[0](self.down[2](functional.max_pool2d(b, 2)))
        y = functional.interpolate(y, size=b.shape[-2:], mode="nearest")
        y = self.narrow[1](self.up[0](torch.cat([y, b], 1)))
        y = functional.interpolate(y, size=a.shape[-2:], mode="bilinear", align_corners=False)
        return self.out(self.up[1](torch.cat([y, a], 1)))


class Bag(nn.Module):
    """Sums over bags of tokens."""

    def __init__(self):
        super().__init__()
        self.bag, self.out = nn.EmbeddingBag(10, 3, mode="sum"), nn.Linear(3, 5)

    def forward(self, tokens, offsets):
        return self.out(self.bag(tokens, offsets))


class TokenMean(nn.Module):
    """The mean over the tokens of a text."""

    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(10, 3), nn.Linear(3, 5)

    def forward(self, tokens):
        return self.out(self.embed(tokens).mean(1))
