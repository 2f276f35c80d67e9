// Runs commands on the smallest possible ring, where every count is one: no text says `1 slots`.
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../test/support/ring-builder-here.ts';

const one =
  /(?<![\d.,~])\b1 (?:are|hold|(?:more |other |later |log )?(?:slot|pin|partition|replica|move|version|device|ring|change|server|file|finding|entrie|copie|wave|domain|row)s)\b/;

test('a count of one is printed in the singular', async () => {
  const tool = await ringBuilderHere({ yes: true });
  const lines = [
    'create tiny --partitioner murmur3-mod --partitions 1 --replicas 1',
    'add tiny r1z1-127.0.0.1:1/a 1',
    'list',
    'plan tiny --offline',
    'commit tiny -m first',
    'list',
    'add tiny r1z1-127.0.0.1:1/b 1',
    'set-weight tiny d0 0',
    'plan tiny --offline --partitions',
    'commit tiny -m second --direct --override one',
    ...['status', 'show', 'diff', 'balance', 'dispersion', 'table', 'log', 'verify'],
    ...['verify --optimal', 'frontier --offline', 'why 0', 'why d1', 'drill device d1 --offline'],
    'set-weight tiny d0 1',
    'remove tiny d1',
    'plan tiny --offline',
    'unstage tiny',
    'revert tiny 1',
  ];
  for (const line of lines) {
    const [command = '', ...args] = line.split(' ');
    const typed =
      line.includes(' tiny') || command === 'list' ? line : [command, 'tiny', ...args].join(' ');
    expect(await tool.text(typed), typed).not.toMatch(one);
  }
});

test('texts about one pin, one version and one retired partition are singular', async () => {
  const tool = await ringBuilderHere({ yes: true });
  await tool.json('create tiny --partitioner ranges --boundaries b,c --replicas 1');
  await tool.json('add tiny r1z1-127.0.0.1:1/a 1 r1z1-127.0.0.1:1/b 0');
  await tool.json('pin tiny 2 --on d1');
  const waits = '1 pin has no effect yet; devices hold nothing: 2 on d1';
  expect(await tool.text('plan tiny --offline')).toContain(waits);
  await tool.json('commit tiny -m first');
  for (const wrong of ['show tiny 9', 'revert tiny 9']) {
    const hint = 'ring-builder log tiny; it has version 1';
    await expect(tool.text(wrong), wrong).rejects.toMatchObject({ hint });
  }
  await tool.json('retire tiny --before b');
  expect(await tool.text('plan tiny --offline')).toContain('what 0 holds is moved to the trash');
});
