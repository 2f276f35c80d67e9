// The table of commands, in groups. Each entry has its usage, one line of summary, and what the
// command needs of servers. The file of a command is loaded when the command runs, and lies in the
// folder of its group. The help and the README's table use the same groups and order.
import { must } from '@ringwright/base/assert';
import type { Command, CommandEntry, CommandNeed } from './cli/command.ts';

type Load = () => Promise<{ readonly command: Command }>;

const loads: Readonly<Record<string, Load>> = {
  create: () => import('./commands/change/create.ts'),
  compose: () => import('./commands/change/compose.ts'),
  add: () => import('./commands/change/add.ts'),
  remove: () => import('./commands/change/remove.ts'),
  replace: () => import('./commands/change/replace.ts'),
  'set-weight': () => import('./commands/change/set-weight.ts'),
  'set-device': () => import('./commands/change/set-device.ts'),
  set: () => import('./commands/change/set.ts'),
  ramp: () => import('./commands/change/ramp.ts'),
  split: () => import('./commands/change/split.ts'),
  merge: () => import('./commands/change/merge.ts'),
  retire: () => import('./commands/change/retire.ts'),
  pin: () => import('./commands/change/pin.ts'),
  unpin: () => import('./commands/change/unpin.ts'),
  maintenance: () => import('./commands/change/maintenance.ts'),
  unstage: () => import('./commands/change/unstage.ts'),
  list: () => import('./commands/preview/list.ts'),
  status: () => import('./commands/preview/status.ts'),
  plan: () => import('./commands/preview/plan.ts'),
  frontier: () => import('./commands/preview/frontier.ts'),
  simulate: () => import('./commands/simulate/simulate.ts'),
  compare: () => import('./commands/simulate/compare.ts'),
  commit: () => import('./commands/apply/commit.ts'),
  push: () => import('./commands/apply/push.ts'),
  rollout: () => import('./commands/apply/rollout.ts'),
  moves: () => import('./commands/apply/moves.ts'),
  reconcile: () => import('./commands/apply/reconcile.ts'),
  trash: () => import('./commands/apply/trash.ts'),
  health: () => import('./commands/monitor/health.ts'),
  servers: () => import('./commands/monitor/servers.ts'),
  why: () => import('./commands/query/why.ts'),
  lookup: () => import('./commands/query/lookup.ts'),
  search: () => import('./commands/query/search.ts'),
  'list-parts': () => import('./commands/query/list-parts.ts'),
  splits: () => import('./commands/query/splits.ts'),
  balance: () => import('./commands/query/balance.ts'),
  dispersion: () => import('./commands/query/dispersion.ts'),
  drill: () => import('./commands/query/drill.ts'),
  table: () => import('./commands/query/table.ts'),
  log: () => import('./commands/history/log.ts'),
  show: () => import('./commands/history/show.ts'),
  diff: () => import('./commands/history/diff.ts'),
  revert: () => import('./commands/history/revert.ts'),
  rebase: () => import('./commands/history/rebase.ts'),
  restore: () => import('./commands/history/restore.ts'),
  archive: () => import('./commands/history/archive.ts'),
  prune: () => import('./commands/history/prune.ts'),
  verify: () => import('./commands/history/verify.ts'),
  stores: () => import('./commands/history/stores.ts'),
  key: () => import('./commands/secure/key.ts'),
  sign: () => import('./commands/secure/sign.ts'),
  beacon: () => import('./commands/secure/beacon.ts'),
  access: () => import('./commands/secure/access.ts'),
  certs: () => import('./commands/secure/certs.ts'),
  settle: () => import('./commands/secure/settle.ts'),
  completion: () => import('./completion/completion.ts'),
  'import-swift': () => import('./commands/exchange/import-swift.ts'),
  'export-swift': () => import('./commands/exchange/export-swift.ts'),
  import: () => import('./commands/exchange/import.ts'),
  'archive-data': () => import('./commands/exchange/archive-data.ts'),
  'restore-data': () => import('./commands/exchange/restore-data.ts'),
};

const entry =
  (needs: CommandNeed) =>
  (usage: string, summary: string): CommandEntry => {
    const name = usage.split(' ', 1)[0] ?? '';
    return { name, usage, summary, needs, load: must(loads[name], `${name} has a file`) };
  };

const folder = entry('folder');
const signature = entry('signature');
const metrics = entry('metrics');
const operator = entry('operator');
const reads = entry('read');
const writes = entry('write');

const change: readonly CommandEntry[] = [
  folder('create <ring>', 'create a ring: its partitions and replicas, no devices yet'),
  folder(
    'compose <ring> <components..>',
    'create a ring from the replicas of other rings, or commit its next version',
  ),
  folder('add <ring> [devices..]', 'stage new devices'),
  folder('remove <ring> <devices..>', 'stage the removal of devices'),
  folder(
    'replace <ring> <old> <new>',
    'stage new devices in place of a device or a whole server, slot by slot',
  ),
  folder('set-weight <ring> <pairs..>', 'stage new weights of devices'),
  folder('set-device <ring> <device>', 'stage a new address, zone, key or meta of a device'),
  folder('set <ring>', 'stage new settings of the ring'),
  folder(
    'ramp <ring> <device> [weight]',
    'stage a weight that is reached in steps, within a time window',
  ),
  folder('split <ring> <partition>', 'stage the split of a partition'),
  folder('merge <ring> <partition> <other>', 'stage the merge of two neighboring partitions'),
  folder('retire <ring>', 'stage the removal of ranges before a key, with their records'),
  folder('pin <ring> <partition>', 'stage devices that must, or must not, hold a partition'),
  folder('unpin <ring> <partition>', 'stage the removal of pins of a partition'),
  folder(
    'maintenance <ring> <devices..>',
    'stage maintenance of devices: they get no slots, and keep theirs unless --no-target',
  ),
  folder('unstage <ring> [numbers..]', 'discard staged changes, all or some'),
];

const preview: readonly CommandEntry[] = [
  folder('list', 'list the rings of the folder: head, servers, pending work'),
  folder('status <ring>', 'show the head, the staged changes, and the next command to type'),
  folder('plan <ring>', 'show what a commit would do; changes nothing'),
  folder(
    'frontier <ring> [overloads..]',
    'compare overloads: better dispersion against more moves',
  ),
];

const simulate: readonly CommandEntry[] = [
  folder(
    'simulate <scenario>',
    'apply a list of changes to an imaginary ring, with figures for each step',
  ),
  folder(
    'compare <scenario>',
    'compare placement strategies: evenness, moves, scans, lookups; a picture',
  ),
];

const apply: readonly CommandEntry[] = [
  folder('commit <ring>', 'make the staged changes the next version'),
  operator('push <ring> [version]', 'send a version to the servers of the ring'),
  operator('rollout <ring>', 'carry out the moves of the head; can be stopped and repeated'),
  operator(
    'moves <ring> <action> [which..]',
    'control moves in flight: list, pause, resume, cancel, retry, prioritise, force, rate',
  ),
  metrics(
    'reconcile <ring>',
    'compare the ring with the disks: absent, partial, left over, duplicated',
  ),
  operator(
    'trash <ring> <action> [names..]',
    'list or restore dropped partition files; confirm blocked drops',
  ),
];

const monitor: readonly CommandEntry[] = [
  metrics('health [ring]', 'check all rings: what is down, forked, blocked, not ready or stalled'),
  metrics('servers <ring>', 'show which server has which version in memory, and why'),
];

const query: readonly CommandEntry[] = [
  folder(
    'why <ring> <what>',
    'explain which rule placed a slot, which version moved it, what blocks it',
  ),
  folder('lookup <ring> [keys..]', 'show the partition, devices and handoffs of keys'),
  folder(
    'search <ring> <devices..>',
    'list the devices that match a selector, with what they hold',
  ),
  folder(
    'list-parts <ring> <devices..>',
    'list the partitions of devices, with the number of replicas',
  ),
  metrics('splits <ring>', 'find partitions that are too large or too small, and what to type'),
  folder('balance <ring> [version]', 'compare shares with slots held, per tier and device'),
  folder(
    'dispersion <ring> [version]',
    'show how replicas are spread over regions, zones and servers',
  ),
  folder('drill <ring> <tier> <names..>', 'simulate a failure: what the ring would lose'),
  folder('table <ring> [version]', 'print the whole table: partitions to devices'),
];

const history: readonly CommandEntry[] = [
  folder('log <ring>', 'show who did what, when and why; newest first'),
  folder('show <ring> [version]', 'show a version: settings, devices, figures'),
  folder('diff <ring> [from] [to]', 'show the differences between two versions'),
  folder('revert <ring> <version>', 'commit a new version with an earlier placement'),
  folder('rebase <ring>', 'stage the changes of an older head again, on the new head'),
  folder('restore [ring]', 'recreate a ring folder from one ring file or server'),
  folder('archive <ring>', 'move old versions to another folder'),
  folder('prune <ring>', 'delete old versions; the log and its hash chain stay'),
  folder(
    'verify <ring> [version]',
    'audit every version, the log and builder.json; --optimal checks the proof',
  ),
  folder('stores <ring> [folders..]', 'show or change the ring stores of a shared history'),
];

const secure: readonly CommandEntry[] = [
  folder('key <action> [names..]', 'manage signing keys, and the root of trust that lists them'),
  folder('sign <ring> [version]', 'add a signature to a version'),
  signature('beacon <ring>', 'send servers a signed statement of which version is the newest'),
  signature(
    'access <action> [names..]',
    'manage tokens: who may read, write, operate; signed, for all servers',
  ),
  folder(
    'certs <action> [names..]',
    'create or rotate the certificate authority and the TLS bundles of servers',
  ),
  operator(
    'settle <ring>',
    'end a fork: tell every server that the history of this folder is the right one',
  ),
];

const complete: readonly CommandEntry[] = [
  folder('completion <shell>', 'print a completion script for bash, zsh or fish'),
];

const exchange: readonly CommandEntry[] = [
  folder(
    'import-swift <ring> <file>',
    'create a ring from a ring or builder file of OpenStack Swift',
  ),
  folder(
    'export-swift <ring> <file> [version]',
    'write a version as a ring or builder file of OpenStack Swift',
  ),
  folder('import <ring>', 'create a ring from JSON, written by a converter of another system'),
  reads('archive-data <ring>', 'write the records of a ring, or of one partition, to a file'),
  writes('restore-data <ring>', 'restore the records of an archive, into a ring of any shape'),
];

interface CommandGroup {
  /** Completes the heading "Commands to …". */
  readonly to: string;
  readonly commands: readonly CommandEntry[];
}

export const commandGroups: readonly CommandGroup[] = [
  { to: 'change', commands: change },
  { to: 'preview', commands: preview },
  { to: 'simulate', commands: simulate },
  { to: 'apply', commands: apply },
  { to: 'monitor', commands: monitor },
  { to: 'query', commands: query },
  { to: 'work with history', commands: history },
  { to: 'sign and secure', commands: secure },
  { to: 'complete in the shell', commands: complete },
  { to: 'import and export', commands: exchange },
];

export const commands: readonly CommandEntry[] = commandGroups.flatMap((group) => group.commands);
