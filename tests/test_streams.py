import numpy as np

from brlbench.streams import first_words, generator, key, keys


def test_a_stream_depends_on_its_names_only() -> None:
    before = generator("mdp", "GC", 3).random(5)
    generator("mdp", "GC", 2).random(100)
    np.testing.assert_array_equal(generator("mdp", "GC", 3).random(5), before)


def test_different_names_give_different_streams() -> None:
    names = [("a", "b"), ("b", "a"), ("ab",), ("a",), ("a", "b", 0), ("a", "b", 1), ()]
    assert len({generator(*n).random() for n in names}) == len(names)


def test_streams_stay_what_they_are_between_versions() -> None:
    assert key("mdp", "GC", 0).tolist() == [7531862786756818836, 17591780548703118666]
    assert int(generator("mdp", "GC", 0).bit_generator.random_raw()) == 10668976528806447285


def test_first_words_are_what_the_generator_draws_first() -> None:
    keys = [key("stream", i) for i in range(200)]
    drawn = [np.random.Philox(key=k).random_raw(4) for k in keys]
    np.testing.assert_array_equal(first_words(keys), drawn)


def test_first_words_of_extreme_keys() -> None:
    largest = 2**64 - 1
    keys = [np.array(k, dtype=np.uint64) for k in ([0, 0], [largest, largest], [0, largest])]
    drawn = [np.random.Philox(key=k).random_raw(4) for k in keys]
    np.testing.assert_array_equal(first_words(keys), drawn)


def test_first_words_of_no_keys() -> None:
    assert first_words([]).shape == (0, 4)


def test_neighbouring_streams_are_uncorrelated() -> None:
    draws = np.array([generator("stream", i).random(1000) for i in range(20)])
    correlations = np.corrcoef(draws)[~np.eye(20, dtype=bool)]
    assert np.abs(correlations).max() < 5 / np.sqrt(1000)
    assert abs(draws.mean() - 0.5) < 5 * np.sqrt(1 / 12 / draws.size)


def test_keys_of_numbered_streams_are_those_of_their_names() -> None:
    numbers = [(0, 0), (3, 1), (12, 0)]
    found = keys(("play", "an agent", 0), numbers)
    np.testing.assert_array_equal(found, [key("play", "an agent", 0, *pair) for pair in numbers])
    assert keys(("play",), []).shape == (0, 2)
