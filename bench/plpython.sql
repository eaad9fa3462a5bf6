-- What users write today to train where the rows are: PL/Python and scikit-learn. The benchmarks time these functions
-- and count their lines.
CREATE EXTENSION IF NOT EXISTS plpython3u;

CREATE OR REPLACE FUNCTION sklearn_fit(query text, estimator text, parameters jsonb) RETURNS float8[] LANGUAGE plpython3u AS $$
import json, warnings
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC
known = {"LinearSVC": LinearSVC, "LogisticRegression": LogisticRegression, "SVC": SVC}
cursor, features, labels = plpy.cursor(query), [], []
while True:
    rows = cursor.fetch(5000)
    if not rows:
        break
    features.append(np.array([row["x"] for row in rows], dtype=np.float32))
    labels.append(np.array([row["y"] for row in rows]))
model = known[estimator](**json.loads(parameters))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    model.fit(np.concatenate(features), np.concatenate(labels))
return np.append(model.coef_.ravel(), model.intercept_).tolist()
$$;

CREATE OR REPLACE FUNCTION sklearn_fit_sparse(query text, width int, parameters jsonb) RETURNS float8[] LANGUAGE plpython3u AS $$
import json, warnings
import numpy as np
from scipy.sparse import csr_matrix
from sklearn.svm import LinearSVC
cursor, starts, columns, values, labels = plpy.cursor(query), [0], [], [], []
while True:
    rows = cursor.fetch(5000)
    if not rows:
        break
    for row in rows:
        columns.append(np.array(row["indices"], dtype=np.int32) - 1)
        values.append(np.array(row["vals"], dtype=np.float64))
        starts.append(starts[-1] + len(row["vals"]))
        labels.append(row["y"])
x = csr_matrix((np.concatenate(values), np.concatenate(columns), np.array(starts)), shape=(len(labels), width))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    model = LinearSVC(**json.loads(parameters)).fit(x, np.array(labels))
return np.append(model.coef_.ravel(), model.intercept_).tolist()
$$;

CREATE OR REPLACE FUNCTION sklearn_score(weights float8[], x real[]) RETURNS float8 IMMUTABLE STRICT LANGUAGE plpython3u AS $$
import numpy as np
return float(np.dot(weights[:-1], x) + weights[-1])
$$;
