# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"
# ruff: noqa: T201
"""The code cells of "Custom Federated Algorithms, Part 2", in order, as one script.

Source: the tutorial of TensorFlow Federated on tensorflow.org (Apache-2.0). Changed:
the name behind `as tff`; no event loop is patched and no picture shown; what a cell
only displays has a name or a `print`.
Tests run this file (see `conftest.py`) and give MNIST, or less, to its `load_data`.
"""

import collections

import numpy as np
import tensorflow as tf

import fedlearn_edu as tff

executor_factory = tff.framework.local_executor_factory(support_sequence_ops=True)
execution_context = tff.framework.SyncExecutionContext(executor_fn=executor_factory)
tff.framework.set_default_context(execution_context)


@tff.federated_computation
def hello_world():
    return "Hello, World!"


print(hello_world())

# ---------------------------------------------------------------- data

mnist_train, mnist_test = tf.keras.datasets.mnist.load_data()
print([(x.dtype, x.shape) for x in mnist_train])

NUM_EXAMPLES_PER_USER = 1000
BATCH_SIZE = 100


def get_data_for_digit(source, digit):
    output_sequence = []
    all_samples = [i for i, d in enumerate(source[1]) if d == digit]
    for i in range(0, min(len(all_samples), NUM_EXAMPLES_PER_USER), BATCH_SIZE):
        batch_samples = all_samples[i : i + BATCH_SIZE]
        output_sequence.append(
            {
                "x": np.array(
                    [source[0][i].flatten() / 255.0 for i in batch_samples],
                    dtype=np.float32,
                ),
                "y": np.array([source[1][i] for i in batch_samples], dtype=np.int32),
            }
        )
    return output_sequence


federated_train_data = [get_data_for_digit(mnist_train, d) for d in range(10)]
federated_test_data = [get_data_for_digit(mnist_test, d) for d in range(10)]
print(federated_train_data[5][-1]["y"])

# ---------------------------------------------------------------- one batch

BATCH_SPEC = collections.OrderedDict(
    x=tf.TensorSpec(shape=[None, 784], dtype=tf.float32),
    y=tf.TensorSpec(shape=[None], dtype=tf.int32),
)
BATCH_TYPE = tff.to_type(BATCH_SPEC)
print(str(BATCH_TYPE))

MODEL_SPEC = collections.OrderedDict(
    weights=tf.TensorSpec(shape=[784, 10], dtype=tf.float32),
    bias=tf.TensorSpec(shape=[10], dtype=tf.float32),
)
MODEL_TYPE = tff.to_type(MODEL_SPEC)
print(MODEL_TYPE)


@tf.function
def forward_pass(model, batch):
    predicted_y = tf.nn.softmax(tf.matmul(batch["x"], model["weights"]) + model["bias"])
    return -tf.reduce_mean(
        tf.reduce_sum(tf.one_hot(batch["y"], 10) * tf.math.log(predicted_y), axis=[1])
    )


@tff.tf_computation(MODEL_TYPE, BATCH_TYPE)
def batch_loss(model, batch):
    return forward_pass(model, batch)


print(str(batch_loss.type_signature))

initial_model = collections.OrderedDict(
    weights=np.zeros([784, 10], dtype=np.float32), bias=np.zeros([10], dtype=np.float32)
)
sample_batch = federated_train_data[5][-1]
print(batch_loss(initial_model, sample_batch))


@tff.tf_computation(MODEL_TYPE, BATCH_TYPE, tf.float32)
def batch_train(initial_model, batch, learning_rate):
    model_vars = collections.OrderedDict(
        [
            (name, tf.Variable(name=name, initial_value=value))
            for name, value in initial_model.items()
        ]
    )
    optimizer = tf.keras.optimizers.SGD(learning_rate)

    @tf.function
    def _train_on_batch(model_vars, batch):
        with tf.GradientTape() as tape:
            loss = forward_pass(model_vars, batch)
        grads = tape.gradient(loss, model_vars)
        optimizer.apply_gradients(
            zip(tf.nest.flatten(grads), tf.nest.flatten(model_vars))  # noqa: B905
        )
        return model_vars

    return _train_on_batch(model_vars, batch)


print(str(batch_train.type_signature))

model = initial_model
losses = []
for _ in range(5):
    model = batch_train(model, sample_batch, 0.1)
    losses.append(batch_loss(model, sample_batch))
print([float(loss) for loss in losses])

# ---------------------------------------------------------------- one client

LOCAL_DATA_TYPE = tff.SequenceType(BATCH_TYPE)


@tff.federated_computation(MODEL_TYPE, tf.float32, LOCAL_DATA_TYPE)
def local_train(initial_model, learning_rate, all_batches):
    @tff.tf_computation(LOCAL_DATA_TYPE, tf.float32)
    def _insert_learning_rate_to_sequence(dataset, learning_rate):
        return dataset.map(lambda x: (x, learning_rate))

    batches_with_learning_rate = _insert_learning_rate_to_sequence(
        all_batches, learning_rate
    )

    @tff.federated_computation(
        MODEL_TYPE, batches_with_learning_rate.type_signature.element
    )
    def batch_fn(model, batch_with_lr):
        batch, lr = batch_with_lr
        return batch_train(model, batch, lr)

    return tff.sequence_reduce(batches_with_learning_rate, initial_model, batch_fn)


print(str(local_train.type_signature))

locally_trained_model = local_train(initial_model, 0.1, federated_train_data[5])


@tff.federated_computation(MODEL_TYPE, LOCAL_DATA_TYPE)
def local_eval(model, all_batches):
    @tff.tf_computation(MODEL_TYPE, LOCAL_DATA_TYPE)
    def _insert_model_to_sequence(model, dataset):
        return dataset.map(lambda x: (model, x))

    model_plus_data = _insert_model_to_sequence(model, all_batches)

    @tff.tf_computation(tf.float32, batch_loss.type_signature.result)
    def tff_add(accumulator, arg):
        return accumulator + arg

    return tff.sequence_reduce(
        tff.sequence_map(batch_loss, model_plus_data), 0.0, tff_add
    )


print(str(local_eval.type_signature))

print("initial_model loss =", local_eval(initial_model, federated_train_data[5]))
print(
    "locally_trained_model loss =",
    local_eval(locally_trained_model, federated_train_data[5]),
)
print("initial_model loss =", local_eval(initial_model, federated_train_data[0]))
print(
    "locally_trained_model loss =",
    local_eval(locally_trained_model, federated_train_data[0]),
)

# ---------------------------------------------------------------- everybody

SERVER_MODEL_TYPE = tff.type_at_server(MODEL_TYPE)
CLIENT_DATA_TYPE = tff.type_at_clients(LOCAL_DATA_TYPE)


@tff.federated_computation(SERVER_MODEL_TYPE, CLIENT_DATA_TYPE)
def federated_eval(model, data):
    return tff.federated_mean(
        tff.federated_map(local_eval, [tff.federated_broadcast(model), data])
    )


print("initial_model loss =", federated_eval(initial_model, federated_train_data))
print(
    "locally_trained_model loss =",
    federated_eval(locally_trained_model, federated_train_data),
)

SERVER_FLOAT_TYPE = tff.type_at_server(tf.float32)


@tff.federated_computation(SERVER_MODEL_TYPE, SERVER_FLOAT_TYPE, CLIENT_DATA_TYPE)
def federated_train(model, learning_rate, data):
    return tff.federated_mean(
        tff.federated_map(
            local_train,
            [
                tff.federated_broadcast(model),
                tff.federated_broadcast(learning_rate),
                data,
            ],
        )
    )


model = initial_model
learning_rate = 0.1
for round_num in range(5):
    model = federated_train(model, learning_rate, federated_train_data)
    learning_rate = learning_rate * 0.9
    loss = federated_eval(model, federated_train_data)
    print("round {}, loss={}".format(round_num, loss))  # noqa: UP032

print("initial_model test loss =", federated_eval(initial_model, federated_test_data))
print("trained_model test loss =", federated_eval(model, federated_test_data))
