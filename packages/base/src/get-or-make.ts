// Returns the value that a map, or a weak map, has under a key; creates it the first time.

interface ReadWriteMap<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/** Calls `make` once per key; `make` must not change the map. */
export function getOrMake<Key, Value extends object>(
  map: ReadWriteMap<Key, Value>,
  key: Key,
  make: () => Value,
): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = make();
  map.set(key, value);
  return value;
}
