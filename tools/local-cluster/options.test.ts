import { expect, test } from 'vitest';
import { parseOptions } from './options.ts';

test('every option has its default', () => {
  expect(parseOptions([])).toMatchObject({
    exit: false,
    secure: false,
    json: false,
    partitions: 256,
    records: null,
    data: null,
  });
});

test('every option that is given is used', () => {
  const args = [
    '--exit',
    '--json',
    '--secure',
    '--partitions',
    '16',
    '--records',
    '2000',
    '--data',
    '/x',
  ];
  const wanted = {
    exit: true,
    json: true,
    secure: true,
    partitions: 16,
    records: 2_000,
    data: '/x',
  };
  expect(parseOptions(args)).toMatchObject(wanted);
});

const bad = [['--records', '5'], ['--partitions', '0'], ['--partitions', '1.5'], ['--unknown']];
for (const args of bad) {
  test(`${args.join(' ')} is refused`, () => {
    expect(() => parseOptions(args)).toThrow();
  });
}
