# SPDX-License-Identifier: Apache-2.0
"""Image models of torchvision and timm with random weights, so nothing is downloaded."""

import functools
import importlib

# Constructors of torchvision.models, with the edge of the image.
_TORCHVISION = {
    "alexnet": 64,
    "convnext_tiny": 64,
    "densenet121": 64,
    "efficientnet_b0": 64,
    "efficientnet_v2_s": 64,
    "googlenet": 64,
    "inception_v3": 160,
    "maxvit_t": 224,
    "mnasnet1_0": 64,
    "mobilenet_v2": 64,
    "mobilenet_v3_large": 64,
    "mobilenet_v3_small": 64,
    "regnet_x_400mf": 64,
    "regnet_y_400mf": 64,
    "resnet18": 64,
    "resnet50": 64,
    "resnext50_32x4d": 64,
    "shufflenet_v2_x1_0": 64,
    "squeezenet1_0": 64,
    "squeezenet1_1": 64,
    "swin_t": 64,
    "swin_v2_t": 64,
    "vgg11_bn": 64,
    "wide_resnet50_2": 64,
    "segmentation.deeplabv3_mobilenet_v3_large": 64,
    "segmentation.fcn_resnet50": 64,
    "segmentation.lraspp_mobilenet_v3_large": 64,
}
_DETECTORS = {"detection.ssdlite320_mobilenet_v3_large": 320}
# Models that take clips of 8 images.
_VIDEO = {"video.mc3_18": 56, "video.r2plus1d_18": 56, "video.r3d_18": 56}
# Options with which constructors load nothing and leave out parts that only training needs.
_TORCHVISION_OPTIONS = {
    "googlenet": {"aux_logits": False, "init_weights": False},
    "inception_v3": {"aux_logits": False, "init_weights": False},
}

# Names of timm's models, with the edge of the image.
_TIMM = {
    "cait_xxs24_224": 224,
    "coat_lite_tiny": 224,
    "convit_tiny": 224,
    "convnextv2_atto": 64,
    "crossvit_tiny_240": 240,
    "cspresnet50": 64,
    "darknet53": 64,
    "davit_tiny": 64,
    "deit_tiny_patch16_224": 224,
    "dla34": 64,
    "dpn48b": 64,
    "edgenext_xx_small": 64,
    "efficientformer_l1": 224,
    "efficientformerv2_s0": 224,
    "ese_vovnet19b_dw": 64,
    "eva02_tiny_patch14_224": 224,
    "fastvit_t8": 64,
    "fbnetc_100": 64,
    "focalnet_tiny_srf": 64,
    "gcvit_xxtiny": 224,
    "ghostnetv2_100": 64,
    "gmlp_s16_224": 224,
    "hardcorenas_a": 64,
    "hrnet_w18_small": 64,
    "inception_next_atto": 64,
    "lcnet_050": 64,
    "levit_128s": 224,
    "mixer_s32_224": 224,
    "mixnet_s": 64,
    "mobilenetv4_conv_small": 64,
    "mobilevit_xxs": 64,
    "mobilevitv2_050": 64,
    "mvitv2_tiny": 224,
    "nest_tiny": 224,
    "nf_regnet_b1": 64,
    "pit_ti_224": 224,
    "poolformer_s12": 64,
    "pvt_v2_b0": 64,
    "regnetz_005": 64,
    "repvgg_a0": 64,
    "res2net50_26w_4s": 64,
    "resmlp_12_224": 224,
    "resnest14d": 64,
    "rexnet_100": 64,
    "selecsls42b": 64,
    "skresnet18": 64,
    "swinv2_cr_tiny_ns_224": 224,
    "tf_efficientnet_lite0": 64,
    "tinynet_e": 64,
    "twins_svt_small": 64,
    "vit_tiny_patch16_224": 224,
    "volo_d1_224": 224,
    "xception41": 64,
    "xcit_nano_12_p16_224": 224,
}


def _images(count, shape):
    """Returns random images, each with a different brightness per channel."""
    torch = importlib.import_module("torch")
    return torch.rand(count, *shape[1:]) * torch.rand(count, shape[1], *[1 for _ in shape[2:]])


def disturbed(module, shape):
    """Changes a newly constructed module so that each part affects the output, and errors become visible.

    Constructors leave biases of zero and blocks that are scaled by 1e-5. If batch normalization has no statistics,
    biases dominate the image in a deep model. With statistics, a deep model amplifies rounding a thousandfold, unless
    most inputs of its activations are above zero."""
    torch = importlib.import_module("torch")
    norms = [part for part in module.eval().modules()
             if isinstance(part, torch.nn.modules.batchnorm._BatchNorm)]  # pylint: disable=protected-access
    for part in norms:
        part.train()
        part.momentum = 1.0
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.02)
        for part in norms:
            if part.affine:
                part.bias.add_(1.0)
        module(_images(16, shape))
    return module.eval()


def _prepared(module, shape):
    """Returns the module, disturbed, and an image."""
    return disturbed(module, shape), (_images(1, shape),)


def constructed(name):
    """Returns the model of torchvision.models with random weights."""
    models = importlib.import_module("torchvision.models")
    options = dict(_TORCHVISION_OPTIONS.get(name, {}), weights=None)
    if name.startswith(("segmentation.", "detection.")):
        options["weights_backbone"] = None
    *folders, constructor = name.split(".")
    module = functools.reduce(getattr, folders, models)
    return getattr(module, constructor)(**options)


def _torchvision(name, shape):
    return _prepared(constructed(name), shape)


def network_of(detector):
    """Returns a detector without the selection of its boxes, whose number depends on the image."""
    torch = importlib.import_module("torch")

    class Network(torch.nn.Module):
        """Maps images to offsets of boxes and scores of classes."""

        def __init__(self):
            super().__init__()
            self.backbone, self.head = detector.backbone, detector.head

        def forward(self, images):
            found = self.head(list(self.backbone(images).values()))
            return found["bbox_regression"], found["cls_logits"]

    return Network()


def _network_of_detector(name, shape):
    return _prepared(network_of(constructed(name)), shape)


def _timm(name, edge):
    timm = importlib.import_module("timm")
    return _prepared(timm.create_model(name, pretrained=False), (1, 3, edge, edge))


def cases():
    """Returns functions by name. Each function creates a module and its inputs."""
    make = {"torchvision/" + name: functools.partial(_torchvision, name, (1, 3, edge, edge))
            for name, edge in {**_TORCHVISION, **_DETECTORS}.items()}
    for name, edge in _DETECTORS.items():
        make["torchvision/%s, network" % name] = functools.partial(
            _network_of_detector, name, (1, 3, edge, edge))
    for name, edge in _VIDEO.items():
        make["torchvision/" + name] = functools.partial(_torchvision, name, (1, 3, 8, edge, edge))
    for name, edge in _TIMM.items():
        make["timm/" + name] = functools.partial(_timm, name, edge)
    return make
