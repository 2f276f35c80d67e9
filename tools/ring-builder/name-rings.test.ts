import { expect, test } from 'vitest';
import { nameRings } from './name-rings.ts';
import { verbs } from './verbs.ts';

const option = ' --rings /srv/rings';

test('every command of a sentence gets the folder, right after its verb', () => {
  const hint = 'run ring-builder rollout kv, or ring-builder moves kv cancel d4 (not 17)';
  expect(nameRings(hint, option)).toBe(
    `run ring-builder rollout${option} kv, or ring-builder moves${option} kv cancel d4 (not 17)`,
  );
  expect(nameRings('see them (ring-builder sign)', option)).toBe(
    `see them (ring-builder sign${option})`,
  );
  for (const { usage } of verbs) {
    const [verb, ...rest] = usage.split(' ');
    const args = rest.map((word) => ` ${word}`).join('');
    const named = `ring-builder ${verb}${option}${args}`;
    expect(nameRings(`ring-builder ${verb}${args}`, option)).toBe(named);
  }
});

test('what names the folder already, is no command or is help stays as it is', () => {
  for (const text of [
    `ring-builder plan kv${option} shows what a commit would do`,
    `ring-builder plan${option} kv`,
    'ring-builder restore kv --from 10.0.0.1:6200 --rings NEWFOLDER',
    'this is a bug of ring-builder; please report it',
    'ring-builder commits would have asked',
    'ring-builder add --help; a device has a name',
  ]) {
    expect(nameRings(text, option)).toBe(text);
  }
  const two = `ring-builder plan kv${option}, then ring-builder commit kv -m TEXT`;
  expect(nameRings(two, option)).toBe(
    `ring-builder plan kv${option}, then ring-builder commit${option} kv -m TEXT`,
  );
});

test('nothing is added where the default folder is in force', () => {
  expect(nameRings('ring-builder plan kv', '')).toBe('ring-builder plan kv');
});
