// The table of commands, in groups: usage, summary, and the file of the verb, which is loaded on
// demand. The help and the README's table have the same groups in the same order. The function that
// makes an entry names what the command needs of servers.
import type { Verb, VerbEntry, VerbNeed } from './cli/verb.ts';

type Load = () => Promise<{ readonly verb: Verb }>;

const entry = (needs: VerbNeed) => (usage: string, summary: string) => ({
  from: (load: Load): VerbEntry => {
    const name = usage.split(' ', 1)[0] ?? '';
    return { name, usage, summary, needs, load };
  },
});

const folder = entry('folder');
const signature = entry('signature');
const metrics = entry('metrics');
const operator = entry('operator');
const reads = entry('read');
const writes = entry('write');

const change: readonly VerbEntry[] = [
  folder('create <ring>', 'create a ring: its partitions and replicas, no devices yet').from(
    () => import('./commands/change/create.ts'),
  ),
  folder(
    'compose <ring> <components..>',
    'create a ring from the replicas of other rings, or commit its next version',
  ).from(() => import('./commands/change/compose.ts')),
  folder('add <ring> [devices..]', 'stage new devices').from(
    () => import('./commands/change/add.ts'),
  ),
  folder('remove <ring> <devices..>', 'stage the removal of devices').from(
    () => import('./commands/change/remove.ts'),
  ),
  folder(
    'replace <ring> <old> <new>',
    'stage new devices in place of a device or a whole server, slot by slot',
  ).from(() => import('./commands/change/replace.ts')),
  folder('set-weight <ring> <pairs..>', 'stage new weights of devices').from(
    () => import('./commands/change/set-weight.ts'),
  ),
  folder('set-device <ring> <device>', 'stage a new address, zone, key or meta of a device').from(
    () => import('./commands/change/set-device.ts'),
  ),
  folder('set <ring>', 'stage new settings of the ring').from(
    () => import('./commands/change/set.ts'),
  ),
  folder(
    'ramp <ring> <device> [weight]',
    'stage a weight that is reached in steps, within a time window',
  ).from(() => import('./commands/change/ramp.ts')),
  folder('split <ring> <partition>', 'stage the split of a partition').from(
    () => import('./commands/change/split.ts'),
  ),
  folder('merge <ring> <partition> <other>', 'stage the merge of two neighboring partitions').from(
    () => import('./commands/change/merge.ts'),
  ),
  folder('retire <ring>', 'stage the removal of ranges before a key, with their records').from(
    () => import('./commands/change/retire.ts'),
  ),
  folder('pin <ring> <partition>', 'stage devices that must, or must not, hold a partition').from(
    () => import('./commands/change/pin.ts'),
  ),
  folder('unpin <ring> <partition>', 'stage the removal of pins of a partition').from(
    () => import('./commands/change/unpin.ts'),
  ),
  folder(
    'maintenance <ring> <devices..>',
    'stage maintenance of devices: they get no slots, and keep theirs unless --no-target',
  ).from(() => import('./commands/change/maintenance.ts')),
  folder('unstage <ring> [numbers..]', 'discard staged changes, all or some').from(
    () => import('./commands/change/unstage.ts'),
  ),
];

const lookBefore: readonly VerbEntry[] = [
  folder('list', 'list the rings of the folder: head, servers, pending work').from(
    () => import('./commands/look/list.ts'),
  ),
  folder('status <ring>', 'show the head, the staged changes, and the next command to type').from(
    () => import('./commands/look/status.ts'),
  ),
  folder('plan <ring>', 'show what a commit would do; changes nothing').from(
    () => import('./commands/carry-out/plan.ts'),
  ),
  folder(
    'frontier <ring> [overloads..]',
    'compare overloads: better dispersion against more moves',
  ).from(() => import('./commands/ask/frontier.ts')),
];

const onPaper: readonly VerbEntry[] = [
  folder(
    'simulate <scenario>',
    'apply a list of changes to an imaginary ring, with figures for each step',
  ).from(() => import('./commands/ask/simulate.ts')),
  folder(
    'compare <scenario>',
    'compare placement strategies: evenness, moves, scans, lookups; a picture',
  ).from(() => import('./commands/ask/compare.ts')),
];

const carryOut: readonly VerbEntry[] = [
  folder('commit <ring>', 'make the staged changes the next version').from(
    () => import('./commands/carry-out/commit.ts'),
  ),
  operator('push <ring> [version]', 'send a version to the servers of the ring').from(
    () => import('./commands/carry-out/push.ts'),
  ),
  operator('rollout <ring>', 'carry out the moves of the head; can be stopped and repeated').from(
    () => import('./commands/carry-out/rollout.ts'),
  ),
  operator(
    'moves <ring> <action> [which..]',
    'control moves in flight: list, pause, resume, cancel, retry, prioritise, force, rate',
  ).from(() => import('./commands/carry-out/moves.ts')),
  metrics(
    'reconcile <ring>',
    'compare the ring with the disks: absent, partial, left over, duplicated',
  ).from(() => import('./commands/carry-out/reconcile.ts')),
  operator(
    'trash <ring> <action> [names..]',
    'list or restore dropped partition files; confirm blocked drops',
  ).from(() => import('./commands/carry-out/trash.ts')),
];

const watch: readonly VerbEntry[] = [
  metrics(
    'health [ring]',
    'check all rings: what is down, forked, blocked, not ready or stalled',
  ).from(() => import('./commands/look/health.ts')),
  metrics('servers <ring>', 'show which server has which version in memory, and why').from(
    () => import('./commands/look/servers.ts'),
  ),
];

const ask: readonly VerbEntry[] = [
  folder(
    'why <ring> <what>',
    'explain which rule placed a slot, which version moved it, what blocks it',
  ).from(() => import('./commands/ask/why.ts')),
  folder('lookup <ring> [keys..]', 'show the partition, devices and handoffs of keys').from(
    () => import('./commands/look/lookup.ts'),
  ),
  folder(
    'search <ring> <devices..>',
    'list the devices that match a selector, with what they hold',
  ).from(() => import('./commands/look/search.ts')),
  folder(
    'list-parts <ring> <devices..>',
    'list the partitions of devices, with the number of replicas',
  ).from(() => import('./commands/look/list-parts.ts')),
  metrics(
    'splits <ring>',
    'find partitions that are too large or too small, and what to type',
  ).from(() => import('./commands/ask/splits.ts')),
  folder('balance <ring> [version]', 'compare shares with slots held, per tier and device').from(
    () => import('./commands/ask/balance.ts'),
  ),
  folder(
    'dispersion <ring> [version]',
    'show how replicas are spread over regions, zones and servers',
  ).from(() => import('./commands/ask/dispersion.ts')),
  folder('drill <ring> <tier> <names..>', 'simulate a failure: what the ring would lose').from(
    () => import('./commands/ask/drill.ts'),
  ),
  folder('table <ring> [version]', 'print the whole table: partitions to devices').from(
    () => import('./commands/look/table.ts'),
  ),
];

const history: readonly VerbEntry[] = [
  folder('log <ring>', 'show who did what, when and why; newest first').from(
    () => import('./commands/history/log.ts'),
  ),
  folder('show <ring> [version]', 'show a version: settings, devices, figures').from(
    () => import('./commands/look/show.ts'),
  ),
  folder('diff <ring> [from] [to]', 'show the differences between two versions').from(
    () => import('./commands/look/diff.ts'),
  ),
  folder('revert <ring> <version>', 'commit a new version with an earlier placement').from(
    () => import('./commands/history/revert.ts'),
  ),
  folder('rebase <ring>', 'stage the changes of an older head again, on the new head').from(
    () => import('./commands/history/rebase.ts'),
  ),
  folder('restore [ring]', 'recreate a ring folder from one ring file or server').from(
    () => import('./commands/history/restore.ts'),
  ),
  folder('archive <ring>', 'move old versions to another folder').from(
    () => import('./commands/history/archive.ts'),
  ),
  folder('prune <ring>', 'delete old versions; the log and its hash chain stay').from(
    () => import('./commands/history/prune.ts'),
  ),
  folder(
    'verify <ring> [version]',
    'audit every version, the log and builder.json; --optimal checks the proof',
  ).from(() => import('./commands/history/verify.ts')),
  folder('stores <ring> [folders..]', 'show or change the ring stores of a shared history').from(
    () => import('./commands/history/stores.ts'),
  ),
];

const sign: readonly VerbEntry[] = [
  folder(
    'key <action> [names..]',
    'manage signing keys, and the root of trust that lists them',
  ).from(() => import('./commands/sign/key.ts')),
  folder('sign <ring> [version]', 'add a signature to a version').from(
    () => import('./commands/sign/sign.ts'),
  ),
  signature('beacon <ring>', 'send servers a signed statement of which version is the newest').from(
    () => import('./commands/sign/beacon.ts'),
  ),
  signature(
    'access <action> [names..]',
    'manage tokens: who may read, write, operate; signed, for all servers',
  ).from(() => import('./commands/sign/access.ts')),
  folder(
    'certs <action> [names..]',
    'create or rotate the certificate authority and the TLS bundles of servers',
  ).from(() => import('./commands/sign/certs.ts')),
  operator(
    'settle <ring>',
    'end a fork: tell every server that the history of this folder is the right one',
  ).from(() => import('./commands/carry-out/settle.ts')),
];

const complete: readonly VerbEntry[] = [
  folder('completion <shell>', 'print a completion script for bash, zsh or fish').from(
    () => import('./completion/completion.ts'),
  ),
];

const exchange: readonly VerbEntry[] = [
  folder(
    'import-swift <ring> <file>',
    'create a ring from a ring or builder file of OpenStack Swift',
  ).from(() => import('./commands/exchange/import-swift.ts')),
  folder(
    'export-swift <ring> <file> [version]',
    'write a version as a ring or builder file of OpenStack Swift',
  ).from(() => import('./commands/exchange/export-swift.ts')),
  folder('import <ring>', 'create a ring from JSON, written by a converter of another system').from(
    () => import('./commands/exchange/import.ts'),
  ),
  reads('archive-data <ring>', 'write the records of a ring, or of one partition, to a file').from(
    () => import('./commands/exchange/archive-data.ts'),
  ),
  writes('restore-data <ring>', 'restore the records of an archive, into a ring of any shape').from(
    () => import('./commands/exchange/restore-data.ts'),
  ),
];

interface VerbGroup {
  /** Completes the heading "Commands to …". */
  readonly to: string;
  readonly verbs: readonly VerbEntry[];
}

export const verbGroups: readonly VerbGroup[] = [
  { to: 'change', verbs: change },
  { to: 'preview', verbs: lookBefore },
  { to: 'simulate', verbs: onPaper },
  { to: 'apply', verbs: carryOut },
  { to: 'monitor', verbs: watch },
  { to: 'query', verbs: ask },
  { to: 'work with history', verbs: history },
  { to: 'sign and secure', verbs: sign },
  { to: 'complete in the shell', verbs: complete },
  { to: 'import and export', verbs: exchange },
];

export const verbs: readonly VerbEntry[] = verbGroups.flatMap((group) => group.verbs);
