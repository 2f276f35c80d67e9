#!/usr/bin/env node
// Program: moves of partitions, beside their limits and a peer: npm run bench:move -- --help
import { runBenchmark } from './measure/benchmark.ts';
import { costSection } from './move/move-cost.ts';
import { fileSection } from './move/move-file.ts';
import { joinSection } from './move/move-join.ts';
import { growthSection, reshardSection } from './move/move-reshard.ts';
import type { MoveSize } from './move/move-section.ts';
import { splitSection } from './move/move-split.ts';

await runBenchmark<MoveSize>({
  name: 'move',
  about: `Real servers, and ring changes by ring-builder rollout.
file: one partition beside cp and rsync. join: a device joins three that are under load.
cost: the processor that a join takes, without load.
split: one file under load, and all partitions at once.
reshard: beside Redis Cluster. growth: the same bytes in more and more partitions.`,
  sizes: {
    mib: { usual: 1_024, about: 'MiB of the file; twice as many join, a quarter is resharded' },
    rounds: { usual: 3, about: 'times the file is moved' },
    seconds: { usual: 10, about: 'seconds of load before and after the join' },
    load: { usual: 50, about: 'percent of the highest load while a device joins' },
    value: { usual: 1_024, about: 'bytes of a value, the file excepted' },
  },
  sections: {
    file: fileSection,
    join: joinSection,
    split: splitSection,
    cost: costSection,
    reshard: reshardSection,
    growth: growthSection,
  },
  example: '--mib 64 --only file',
});
