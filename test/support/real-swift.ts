// The real OpenStack Swift of this machine (Debian's package `swift`), if it is installed.
import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

const python = '/usr/bin/python3';
const run = promisify(execFile);

/** Whether Swift's ring code can be imported. */
export function swiftInstalled(): boolean {
  return spawnSync(python, ['-c', 'import swift.common.ring.builder']).status === 0;
}

/**
 * Loads rings as a server does. Prints the primaries and first handoffs of each partition, by id.
 */
const answersProgram = `
import json, sys
import swift.common.utils as utils
utils.HASH_PATH_PREFIX, utils.HASH_PATH_SUFFIX = [bytes.fromhex(text) for text in sys.argv[1:3]]
utils.validate_hash_conf = lambda: None
from itertools import islice
from swift.common.ring.ring import Ring
for file in sys.argv[3:]:
    ring = Ring(file)
    count = len(ring._replica2part2dev_id[0])
    nodes = lambda part: [node['id'] for node in ring.get_part_nodes(part)]
    more = lambda part: [node['id'] for node in islice(ring.get_more_nodes(part), 6)]
    keys = [['a', 'c', 'o%d' % n] for n in range(50)]
    print(json.dumps({
        'version': ring.version,
        'partitions': [[nodes(part), more(part)] for part in range(0, count, 1 + count // 256)],
        'keys': [['/'.join([''] + key), ring.get_part(*key)] for key in keys]}))
`;

interface SwiftAnswers {
  readonly version: number | null;
  /** At most 256 partitions, evenly spread. */
  readonly partitions: readonly (readonly [primaries: number[], handoffs: number[]])[];
  readonly keys: readonly (readonly [path: string, partition: number])[];
}

/** Uses one process for all files, because it takes a second to start. */
export async function swiftAnswers(
  files: readonly string[],
  { prefix, suffix }: { readonly prefix: string; readonly suffix: string },
): Promise<SwiftAnswers[]> {
  const options = { maxBuffer: 2 ** 28 };
  const { stdout } = await run(python, ['-c', answersProgram, prefix, suffix, ...files], options);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Opens pairs of builders, validates and compares them, and prints the differences. */
const sameProgram = `
import sys
from swift.common.ring.builder import RingBuilder
left_out = ('_dispersion_graph', 'devs', '_remove_devs', '_last_part_moves', '_replica2part2dev')
strip = lambda devs: [dev and {k: v for k, v in dev.items() if k != 'parts_wanted'} for dev in devs]
for at in range(1, len(sys.argv), 2):
    loaded = [RingBuilder.load(file) for file in sys.argv[at:at + 2]]
    for builder in loaded:
        if builder._replica2part2dev and not builder._remove_devs: builder.validate()
    wanted, found = [builder.to_dict() for builder in loaded]
    for name in wanted:
        if name not in left_out and repr(wanted[name]) != repr(found[name]):
            print(sys.argv[at], name, wanted[name], found[name])
    rows = [[(row.typecode, row) for row in one['_replica2part2dev'] or ()]
            for one in (wanted, found)]
    if rows[0] != rows[1]: print(sys.argv[at], 'rows')
    moves = [list(one['_last_part_moves']) for one in (wanted, found)]
    if moves[0] != moves[1]: print(sys.argv[at], 'moves')
    for name in ('devs', '_remove_devs'):
        if strip(wanted[name]) != strip(found[name]): print(sys.argv[at], name)
    for dev in found['_remove_devs']:
        if found['devs'][dev['id']] is not dev: print(sys.argv[at], 'removed device is a copy')
`;

/**
 * Returns the differences that Swift sees within the pairs, a line each; empty if there are none.
 */
export async function swiftDifferences(
  pairs: readonly (readonly [string, string])[],
): Promise<string> {
  return (await run(python, ['-c', sameProgram, ...pairs.flat()])).stdout;
}

/** Makes builders that Swift creates, loads and continues with, although they are unusual. */
const oddProgram = `
import os, sys
from swift.common.ring.builder import RingBuilder
def device(id, **more):
    more = {key: more[key].format(id) if key == 'ip' else more[key] for key in more}
    ip = '10.0.0.%d' % id
    return dict({'id': id, 'region': 1, 'zone': id, 'ip': ip, 'port': 6200, 'device': 'sdb',
                 'weight': 100.0, 'meta': '', 'replication_ip': ip, 'replication_port': 6200},
                **more)
def made(name, replicas=3.0, hours=1, rebalanced=True, then=lambda builder: None, **more):
    builder = RingBuilder(4, replicas, hours)
    for id in range(4): builder.add_dev(device(id, **more))
    if rebalanced: builder.rebalance(seed=7)
    then(builder)
    file = os.path.join(sys.argv[1], name + '.builder')
    builder.save(file)
    if rebalanced: builder.get_ring().save(os.path.join(sys.argv[1], name + '.ring.gz'))
    print(name)
made('spaces', device='my disk 1')
made('meta', meta='m' * 5000)
made('ipv6-zone', ip='fe80::{}%eth0', device='sda1')
made('idn', ip='b\u00fccher{}.example')
made('trailing-dot', ip='node{}.example.')
made('heavy', weight=4000787030016.0)
made('int-replicas', replicas=3)
made('hours-255', hours=255)
made('hours-300', hours=300)
made('hours-9000', hours=9000)
made('empty-row', replicas=2.001)
made('fraction', replicas=2.3)
made('pending', then=lambda builder: builder.set_replicas(2.5))
made('pending-int', then=lambda builder: builder.set_replicas(4))
made('never', rebalanced=False)
made('never-int', rebalanced=False, replicas=2)
made('removing', then=lambda builder: builder.remove_dev(3))
`;

/**
 * Returns their names: NAME.builder, and NAME.ring.gz except for those that never placed anything.
 */
export async function swiftOddBuilders(folder: string): Promise<string[]> {
  const { stdout } = await run(python, ['-c', oddProgram, folder]);
  return stdout.trim().split('\n');
}

interface SwiftRingBuilderEnded {
  readonly exit: number | null;
  readonly output: string;
}

export function swiftRingBuilder(args: readonly string[], cwd: string): SwiftRingBuilderEnded {
  const ended = spawnSync('/usr/bin/swift-ring-builder', args, { cwd, encoding: 'utf8' });
  return { exit: ended.status, output: `${ended.stdout}${ended.stderr}` };
}
