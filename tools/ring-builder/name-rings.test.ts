// Tests that commands in hints get the ring and the options that the user typed.
import { expect, test } from 'vitest';
import { commands } from './command-groups.ts';
import { nameCommand, nameRings } from './name-rings.ts';

const option = ' --rings /srv/rings';
const named = (text: string, ringsOption = option, ring?: string): string =>
  nameRings(text, { ringsOption, serverOptions: '', ring });

test('every command of a sentence gets the folder option right after its first word', () => {
  const hint = 'run ring-builder rollout kv, or ring-builder moves kv cancel d4 (not 17)';
  expect(named(hint)).toBe(
    `run ring-builder rollout${option} kv, or ring-builder moves${option} kv cancel d4 (not 17)`,
  );
  expect(named('see them (ring-builder sign)')).toBe(`see them (ring-builder sign${option})`);
  for (const { usage } of commands) {
    const [name, ...rest] = usage.split(' ');
    const args = rest.map((word) => ` ${word}`).join('');
    const wanted = `ring-builder ${name}${option}${args}`;
    expect(named(`ring-builder ${name}${args}`)).toBe(wanted);
  }
});

test('a text stays as it is if it has a folder option, is help or has no command', () => {
  for (const text of [
    `ring-builder plan kv${option} shows what a commit would do`,
    `ring-builder plan${option} kv`,
    'ring-builder restore kv --from 10.0.0.1:6200 --rings NEWFOLDER',
    'this is a bug of ring-builder; please report it',
    'ring-builder commits would have asked',
    'ring-builder add --help; a device has a name',
  ]) {
    expect(named(text)).toBe(text);
  }
  const two = `ring-builder plan kv${option}, then ring-builder commit kv -m TEXT`;
  expect(named(two)).toBe(
    `ring-builder plan kv${option}, then ring-builder commit${option} kv -m TEXT`,
  );
});

test('nothing is added if the default folder is used', () => {
  expect(named('ring-builder plan kv', '')).toBe('ring-builder plan kv');
});

test('RING is replaced by the typed ring, if there is one, and other words stay', () => {
  const hint = 'ring-builder table RING lists them; ring-builder create RING; a RING is a ring';
  expect(named(hint, '', 'kv')).toBe(
    'ring-builder table kv lists them; ring-builder create kv; a RING is a ring',
  );
  expect(named(hint, option, 'kv')).toContain(`ring-builder table${option} kv lists them`);
  expect(named('ring-builder moves RINGS list', '', 'kv')).toBe('ring-builder moves RINGS list');
  expect(named(hint, '')).toBe(hint);
});

test('server options are added once, and only to commands that contact servers', () => {
  const naming = { ringsOption: option, serverOptions: ' --ca a.pem', ring: undefined };
  const confirm = nameCommand('trash kv confirm --to 10.0.0.9:6200', naming);
  expect(confirm).toBe(`ring-builder trash kv confirm --to 10.0.0.9:6200${option} --ca a.pem`);
  expect(nameRings(`if it comes back: ${confirm}`, naming)).toBe(`if it comes back: ${confirm}`);
  expect(nameRings('ring-builder push kv', naming)).toBe(
    `ring-builder push${option} --ca a.pem kv`,
  );
  expect(nameCommand('plan kv', naming)).toBe(`ring-builder plan kv${option}`);
});
