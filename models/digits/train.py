#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the digits network. Writes it for one image and for any number of images, with calibration images, the held-out test images, and the
expected output for the first test image.

The script is needed only to train the network again:

    python3 -m venv venv && venv/bin/pip install numpy==1.26.4 scikit-learn==1.5.2 onnx==1.16.2
    venv/bin/python models/digits/train.py models/digits

The data are scikit-learn's bundled handwritten digits: 1797 images of 8 x 8 pixels with values 0 to 16 by 43 people (E. Alpaydin, C. Kaynak,
"Optical Recognition of Handwritten Digits", UCI repository). Every fifth image is held out, 359 in all: the network never sees them in
training. The network is three 3 x 3 convolutions with pooling and one dense layer, trained with Adam on images that are shifted by up
to one pixel. The script uses only NumPy, to stay readable and repeatable.
"""

import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

SEED = 1
EPOCHS = 40
BATCH = 64
LEARNING_RATE = 2e-3
CHANNELS = (16, 32, 64)
CALIBRATION = 100  # training images that `kiln quantize` uses


def columns(x):
    """3 x 3 neighborhoods with zero padding: [n, c, h, w] -> [n, h, w, c * 9]."""
    n, c, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, c * 9)


def conv(x, weight, bias):
    cols = columns(x)
    out = cols @ weight.reshape(weight.shape[0], -1).T + bias
    return out.transpose(0, 3, 1, 2), cols


def conv_gradients(grad, cols, weight, x_shape):
    n, c, h, w = x_shape
    rows = grad.transpose(0, 2, 3, 1).reshape(-1, grad.shape[1])
    d_weight = (rows.T @ cols.reshape(-1, c * 9)).reshape(weight.shape)
    d_cols = (rows @ weight.reshape(weight.shape[0], -1)).reshape(n, h, w, c, 3, 3)
    d_padded = np.zeros((n, c, h + 2, w + 2), np.float32)
    for i in range(3):
        for j in range(3):
            d_padded[:, :, i : i + h, j : j + w] += d_cols[:, :, :, :, i, j].transpose(0, 3, 1, 2)
    return d_padded[:, :, 1:-1, 1:-1], d_weight, rows.sum(axis=0)


def pool(x):
    """Returns the maxima of 2 x 2 blocks, and the position of each maximum in its block (0 to 3)."""
    n, c, h, w = x.shape
    blocks = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h // 2, w // 2, 4)
    return blocks.max(axis=-1), blocks.argmax(axis=-1)


def pool_gradients(grad, where):
    n, c, h, w = grad.shape
    blocks = np.zeros((n, c, h, w, 4), np.float32)
    np.put_along_axis(blocks, where[..., None], grad[..., None], axis=-1)
    return blocks.reshape(n, c, h, w, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h * 2, w * 2)


def initial(rng):
    params = []
    inputs = 1
    for outputs in CHANNELS:
        params += [rng.normal(0, np.sqrt(2 / (inputs * 9)), (outputs, inputs, 3, 3)), np.zeros(outputs)]
        inputs = outputs
    features = CHANNELS[-1] * 4
    params += [rng.normal(0, np.sqrt(1 / features), (10, features)), np.zeros(10)]
    return [p.astype(np.float32) for p in params]


def forward(params, x):
    saved = []
    for layer in range(3):
        inputs = x
        x, cols = conv(x, params[2 * layer], params[2 * layer + 1])
        active = x > 0
        x = x * active
        where = None
        if layer > 0:
            x, where = pool(x)
        saved.append((inputs.shape, cols, active, where))
    flat = x.reshape(len(x), -1)
    return flat @ params[6].T + params[7], flat, x.shape, saved


def gradients(params, x, labels):
    logits, flat, shape, saved = forward(params, x)
    scores = np.exp(logits - logits.max(axis=1, keepdims=True))
    scores /= scores.sum(axis=1, keepdims=True)
    scores[np.arange(len(labels)), labels] -= 1
    scores /= len(labels)
    grads = [None] * 8
    grads[6], grads[7] = scores.T @ flat, scores.sum(axis=0)
    grad = (scores @ params[6]).reshape(shape)
    for layer in (2, 1, 0):
        x_shape, cols, active, where = saved[layer]
        if where is not None:
            grad = pool_gradients(grad, where)
        grad, grads[2 * layer], grads[2 * layer + 1] = conv_gradients(grad * active, cols, params[2 * layer], x_shape)
    return grads


def probabilities(params, x):
    """Returns the expected output of the network, computed in float64 and rounded to float32."""
    logits = forward([p.astype(np.float64) for p in params], x.astype(np.float64))[0]
    scores = np.exp(logits - logits.max(axis=1, keepdims=True))
    return (scores / scores.sum(axis=1, keepdims=True)).astype(np.float32)


def shifted(rng, images):
    padded = np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return np.stack([
        image[:, dy : dy + 8, dx : dx + 8] for image, dy, dx in zip(padded, *rng.integers(0, 3, (2, len(images))))
    ])


def train(images, labels):
    rng = np.random.default_rng(SEED)
    params = initial(rng)
    first = [np.zeros_like(p) for p in params]
    second = [np.zeros_like(p) for p in params]
    step = 0
    for epoch in range(EPOCHS):
        order = rng.permutation(len(images))
        rate = LEARNING_RATE * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        for begin in range(0, len(order), BATCH):
            batch = order[begin : begin + BATCH]
            step += 1
            for i, g in enumerate(gradients(params, shifted(rng, images[batch]), labels[batch])):
                first[i] = 0.9 * first[i] + 0.1 * g
                second[i] = 0.999 * second[i] + 0.001 * g * g
                corrected = first[i] / (1 - 0.9**step), second[i] / (1 - 0.999**step)
                params[i] = (params[i] - rate * corrected[0] / (np.sqrt(corrected[1]) + 1e-8)).astype(np.float32)
        print(f"epoch {epoch + 1}: {np.mean(forward(params, images)[0].argmax(axis=1) == labels):.4f} on what it has seen")
    return params


def to_onnx(params, batch):
    """Returns the ONNX model. `batch` is the number of images, or the name of the dimension if any number is allowed."""
    names = ["conv1", "conv2", "conv3"]
    nodes, weights, last = [], [], "image"
    for i, name in enumerate(names):
        weights += [numpy_helper.from_array(params[2 * i], f"{name}.weight"),
                    numpy_helper.from_array(params[2 * i + 1], f"{name}.bias")]
        nodes.append(helper.make_node("Conv", [last, f"{name}.weight", f"{name}.bias"], [f"{name}.out"], name,
                                      kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"{name}.out"], [f"{name}.relu"], f"relu{i + 1}"))
        last = f"{name}.relu"
        if i > 0:
            nodes.append(helper.make_node("MaxPool", [last], [f"{name}.pool"], f"pool{i}", kernel_shape=[2, 2], strides=[2, 2]))
            last = f"{name}.pool"
    weights += [numpy_helper.from_array(params[6], "dense.weight"), numpy_helper.from_array(params[7], "dense.bias")]
    nodes.append(helper.make_node("Flatten", [last], ["flat"], "flatten"))
    nodes.append(helper.make_node("Gemm", ["flat", "dense.weight", "dense.bias"], ["logits"], "dense", transB=1))
    nodes.append(helper.make_node("Softmax", ["logits"], ["probabilities"], "softmax", axis=1))
    graph = helper.make_graph(nodes, "digits",
                              [helper.make_tensor_value_info("image", TensorProto.FLOAT, [batch, 1, 8, 8])],
                              [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [batch, 10])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="kiln digits")
    model.ir_version = 7
    onnx.checker.check_model(model)
    return model


def main():
    folder = sys.argv[1]
    digits = load_digits()
    images = (digits.images / 16).astype(np.float32)[:, None]
    held_out = np.arange(len(images)) % 5 == 4
    params = train(images[~held_out], digits.target[~held_out])
    right = forward(params, images[held_out])[0].argmax(axis=1) == digits.target[held_out]
    print(f"{right.mean():.4f} on {held_out.sum()} held-out images")
    onnx.save(to_onnx(params, 1), f"{folder}/digits.onnx")
    onnx.save(to_onnx(params, "batch"), f"{folder}/digits_batch.onnx")
    os.makedirs(f"{folder}/calibration", exist_ok=True)
    np.save(f"{folder}/calibration/image.npy", images[~held_out][:CALIBRATION])
    np.save(f"{folder}/test_images.npy", (digits.images[held_out]).astype(np.uint8))
    np.save(f"{folder}/test_labels.npy", digits.target[held_out].astype(np.uint8))
    image = images[held_out][:1]
    np.save(f"{folder}/image.npy", image)
    np.save(f"{folder}/probabilities.npy", probabilities(params, image))


if __name__ == "__main__":
    main()
