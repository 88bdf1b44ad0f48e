# SPDX-License-Identifier: Apache-2.0
"""Estimators of scikit-learn, XGBoost and LightGBM, trained on generated data."""

import functools
import importlib

_FEATURES = 10
_SAMPLES = 16  # predicted at once

# Classifiers and regressors by their full names, with options for their constructors.
_CLASSIFIERS = {
    "sklearn.ensemble.AdaBoostClassifier": {"n_estimators": 10},
    "sklearn.ensemble.ExtraTreesClassifier": {"n_estimators": 50},
    "sklearn.ensemble.GradientBoostingClassifier": {"n_estimators": 50},
    "sklearn.ensemble.HistGradientBoostingClassifier": {"max_iter": 50},
    "sklearn.ensemble.RandomForestClassifier": {"n_estimators": 100},
    "sklearn.linear_model.LogisticRegression": {},
    "sklearn.linear_model.SGDClassifier": {"loss": "log_loss"},
    "sklearn.naive_bayes.GaussianNB": {},
    "sklearn.neighbors.KNeighborsClassifier": {},
    "sklearn.neural_network.MLPClassifier": {"max_iter": 100},
    "sklearn.svm.LinearSVC": {},
    "sklearn.svm.SVC": {},
    "sklearn.tree.DecisionTreeClassifier": {},
    "xgboost.XGBClassifier": {"n_estimators": 50},
    "lightgbm.LGBMClassifier": {"n_estimators": 50, "verbose": -1},
}
_REGRESSORS = {
    "sklearn.ensemble.GradientBoostingRegressor": {"n_estimators": 50},
    "sklearn.ensemble.HistGradientBoostingRegressor": {"max_iter": 50},
    "sklearn.ensemble.RandomForestRegressor": {"n_estimators": 100},
    "sklearn.gaussian_process.GaussianProcessRegressor": {},
    "sklearn.linear_model.ElasticNet": {},
    "sklearn.linear_model.Lasso": {},
    "sklearn.linear_model.LinearRegression": {},
    "sklearn.linear_model.Ridge": {},
    "sklearn.neighbors.KNeighborsRegressor": {},
    "sklearn.neural_network.MLPRegressor": {"max_iter": 100},
    "sklearn.svm.SVR": {},
    "sklearn.tree.DecisionTreeRegressor": {},
    "xgboost.XGBRegressor": {"n_estimators": 50},
    "lightgbm.LGBMRegressor": {"n_estimators": 50, "verbose": -1},
}
_TRANSFORMERS = {
    "sklearn.cluster.KMeans": {"n_clusters": 4},
    "sklearn.decomposition.PCA": {"n_components": 4},
    "sklearn.preprocessing.MinMaxScaler": {},
    "sklearn.preprocessing.Normalizer": {},
    "sklearn.preprocessing.PolynomialFeatures": {},
    "sklearn.preprocessing.StandardScaler": {},
}


class Fitted:
    """An estimator, samples, and its predictions: arrays in the order of the ONNX model's outputs."""

    def __init__(self, estimator, samples, wanted):
        self.estimator, self.samples, self.wanted = estimator, samples, wanted

    def export(self, path):
        """Writes an ONNX model for any number of samples, as described in skl2onnx's documentation."""
        _register_boosters()
        skl2onnx = importlib.import_module("skl2onnx")
        types = importlib.import_module("skl2onnx.common.data_types")
        options = {}
        if hasattr(self.estimator, "predict_proba"):
            options = {id(self.estimator): {"zipmap": False}}
        model = skl2onnx.convert_sklearn(
            self.estimator, initial_types=[("x", types.FloatTensorType([None, _FEATURES]))],
            options=options, target_opset={"": 21, "ai.onnx.ml": 3})
        path.write_bytes(model.SerializeToString())


def _register_boosters():
    """Registers onnxmltools' converters with skl2onnx."""
    update = importlib.import_module("skl2onnx").update_registered_converter
    shapes = importlib.import_module("skl2onnx.common.shape_calculator")
    classes = {"nocl": [True, False], "zipmap": [True, False, "columns"]}
    for package, short, operator in (("xgboost", "XGB", "XGBoost"), ("lightgbm", "LGBM", "LightGbm")):
        module = importlib.import_module(package)
        converters = importlib.import_module(
            "onnxmltools.convert.%s.operator_converters.%s" % (package, operator))
        convert = getattr(converters, "convert_" + package)
        update(getattr(module, short + "Classifier"), short + "Classifier",
               shapes.calculate_linear_classifier_output_shapes, convert, options=classes)
        update(getattr(module, short + "Regressor"), short + "Regressor",
               shapes.calculate_linear_regressor_output_shapes, convert)


def _data(classes):
    """Returns float32 samples for training and for prediction, and the targets of the training samples."""
    np = importlib.import_module("numpy")
    random = np.random.default_rng(7)
    x = random.normal(size=(300 + _SAMPLES, _FEATURES)).astype(np.float32)
    signal = x[:, 0] * 2 - x[:, 1] + x[:, 2] * x[:, 3]
    y = signal[:300] + random.normal(size=300) / 4
    if classes:
        y = np.digitize(y, np.quantile(y, np.arange(1, classes) / classes))
    return x[:300], y, x[300:]


def _constructed(name, options):
    module, _, constructor = name.rpartition(".")
    return getattr(importlib.import_module(module), constructor)(**options)


def _classifier(name, options, classes):
    x, y, samples = _data(classes)
    estimator = _constructed(name, options).fit(x, y)
    wanted = [estimator.predict(samples)]
    if hasattr(estimator, "predict_proba"):
        wanted.append(estimator.predict_proba(samples))
    return Fitted(estimator, samples, wanted)


def _regressor(name, options):
    x, y, samples = _data(0)
    estimator = _constructed(name, options).fit(x, y)
    return Fitted(estimator, samples, [estimator.predict(samples).reshape(len(samples), -1)])


def _transformer(name, options):
    x, _, samples = _data(0)
    estimator = _constructed(name, options).fit(x)
    if hasattr(estimator, "predict"):
        return Fitted(estimator, samples, [estimator.predict(samples), estimator.transform(samples)])
    return Fitted(estimator, samples, [estimator.transform(samples)])


def _pipeline():
    x, y, samples = _data(3)
    make_pipeline = importlib.import_module("sklearn.pipeline").make_pipeline
    estimator = make_pipeline(_constructed("sklearn.preprocessing.StandardScaler", {}),
                              _constructed("sklearn.decomposition.PCA", {"n_components": 5}),
                              _constructed("sklearn.linear_model.LogisticRegression", {})).fit(x, y)
    return Fitted(estimator, samples, [estimator.predict(samples), estimator.predict_proba(samples)])


def _case_name(name):
    package, _, rest = name.partition(".")
    return ("scikit-learn/" if package == "sklearn" else package + "/") + rest


def cases():
    """Returns functions by name. Each function creates a Fitted."""
    make = {"scikit-learn/pipeline of scaler, PCA and LogisticRegression": _pipeline}
    for name, options in _CLASSIFIERS.items():
        for classes in (2, 3):
            make["%s, %d classes" % (_case_name(name), classes)] = functools.partial(
                _classifier, name, options, classes)
    for table, function in ((_REGRESSORS, _regressor), (_TRANSFORMERS, _transformer)):
        for name, options in table.items():
            make[_case_name(name)] = functools.partial(function, name, options)
    return make
