// What a map, also a weak one, has under a key: made the first time.

interface ReadWriteMap<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/** `make` is not called again for what it made, and must not change the map. */
export function getOrMake<Key, Value extends object>(
  map: ReadWriteMap<Key, Value>,
  key: Key,
  make: () => Value,
): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
