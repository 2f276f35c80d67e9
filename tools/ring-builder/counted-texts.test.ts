// The smallest ring there is: whatever is counted is one, and no text says `1 slots`.
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../test/support/ring-builder-here.ts';

const one =
  /(?<![\d.,~])\b1 (?:more |other |later |log )?(?:slot|partition|replica|move|version|device|ring|change|server|file|finding|entrie|copie|wave|domain|row)s\b/;

test('what is one is told as one', async () => {
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
    const [verb = '', ...args] = line.split(' ');
    const typed =
      line.includes(' tiny') || verb === 'list' ? line : [verb, 'tiny', ...args].join(' ');
    expect(await tool.text(typed), typed).not.toMatch(one);
  }
});
