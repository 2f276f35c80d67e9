// The table of commands, in groups: usage, one line, and the file that does it, loaded when it is
// asked for. The help and the README's table have its groups and its order. Before each: what it
// needs of servers.
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
  folder('create <ring>', 'a new ring: its partitions and replicas, no devices yet').from(
    () => import('./commands/change/create.ts'),
  ),
  folder(
    'compose <ring> <components..>',
    'a ring whose replicas are those of other rings, or its next version',
  ).from(() => import('./commands/change/compose.ts')),
  folder('add <ring> [devices..]', 'stage devices to join the ring').from(
    () => import('./commands/change/add.ts'),
  ),
  folder('remove <ring> <devices..>', 'stage devices to leave the ring').from(
    () => import('./commands/change/remove.ts'),
  ),
  folder(
    'replace <ring> <old> <new>',
    'stage a device, or a whole server, to be taken over by new ones, slot by slot',
  ).from(() => import('./commands/change/replace.ts')),
  folder('set-weight <ring> <pairs..>', 'stage other weights').from(
    () => import('./commands/change/set-weight.ts'),
  ),
  folder('set-device <ring> <device>', 'stage another address, zone, key or meta of a device').from(
    () => import('./commands/change/set-device.ts'),
  ),
  folder('set <ring>', 'stage other settings of the ring').from(
    () => import('./commands/change/set.ts'),
  ),
  folder(
    'ramp <ring> <device> [weight]',
    'stage a weight to be reached by steps, inside a window of time',
  ).from(() => import('./commands/change/ramp.ts')),
  folder('split <ring> <partition>', 'stage several partitions in the place of one').from(
    () => import('./commands/change/split.ts'),
  ),
  folder(
    'merge <ring> <partition> <other>',
    'stage one partition in the place of two neighbours',
  ).from(() => import('./commands/change/merge.ts')),
  folder('retire <ring>', 'stage the end of ranges before a key, with what they hold').from(
    () => import('./commands/change/retire.ts'),
  ),
  folder('pin <ring> <partition>', 'stage devices that must, or must not, hold a partition').from(
    () => import('./commands/change/pin.ts'),
  ),
  folder('unpin <ring> <partition>', 'stage a partition to go where shares want it').from(
    () => import('./commands/change/unpin.ts'),
  ),
  folder(
    'maintenance <ring> <devices..>',
    'stage devices to get nothing and, unless --no-target, to keep all they have',
  ).from(() => import('./commands/change/maintenance.ts')),
  folder('unstage <ring> [numbers..]', 'forget what is staged, all or some').from(
    () => import('./commands/change/unstage.ts'),
  ),
];

const lookBefore: readonly VerbEntry[] = [
  folder('list', 'the rings of the folder: head, servers, and what waits').from(
    () => import('./commands/look/list.ts'),
  ),
  folder('status <ring>', 'the head, what is staged, and the next command to type').from(
    () => import('./commands/look/status.ts'),
  ),
  folder('plan <ring>', 'what a commit would do; changes nothing').from(
    () => import('./commands/carry-out/plan.ts'),
  ),
  folder('frontier <ring> [overloads..]', 'what each overload would buy, and cost').from(
    () => import('./commands/ask/frontier.ts'),
  ),
];

const onPaper: readonly VerbEntry[] = [
  folder('simulate <scenario>', 'a list of changes on paper, with figures for each step').from(
    () => import('./commands/ask/simulate.ts'),
  ),
  folder(
    'compare <scenario>',
    'ways to place data side by side: evenness, moves, scans, lookups; a picture',
  ).from(() => import('./commands/ask/compare.ts')),
];

const carryOut: readonly VerbEntry[] = [
  folder('commit <ring>', 'make what is staged the next version').from(
    () => import('./commands/carry-out/commit.ts'),
  ),
  operator('push <ring> [version]', 'send a version to the servers of the ring').from(
    () => import('./commands/carry-out/push.ts'),
  ),
  operator(
    'rollout <ring>',
    'drive the moves of the head to their end; may be stopped and typed again',
  ).from(() => import('./commands/carry-out/rollout.ts')),
  operator(
    'moves <ring> <action> [which..]',
    'slots on their way: list, pause, resume, cancel, retry, prioritise, force, rate',
  ).from(() => import('./commands/carry-out/moves.ts')),
  metrics(
    'reconcile <ring>',
    'the ring against the disks: absent, partial, left over, duplicated',
  ).from(() => import('./commands/carry-out/reconcile.ts')),
  operator(
    'trash <ring> <action> [names..]',
    'dropped partition files: list, restore; confirm drops that are held',
  ).from(() => import('./commands/carry-out/trash.ts')),
];

const watch: readonly VerbEntry[] = [
  metrics(
    'health [ring]',
    'all rings on one screen: what is down, forked, held back, not ready or stalled',
  ).from(() => import('./commands/look/health.ts')),
  metrics('servers <ring>', 'which server has which version in memory, and why').from(
    () => import('./commands/look/servers.ts'),
  ),
];

const ask: readonly VerbEntry[] = [
  folder(
    'why <ring> <what>',
    'which rule placed a slot, which version moved it, what blocks it',
  ).from(() => import('./commands/ask/why.ts')),
  folder('lookup <ring> [keys..]', 'partition, devices in order and handoffs of keys').from(
    () => import('./commands/look/lookup.ts'),
  ),
  folder(
    'search <ring> <devices..>',
    'the devices that a selector means, with what they hold',
  ).from(() => import('./commands/look/search.ts')),
  folder(
    'list-parts <ring> <devices..>',
    'the partitions that devices hold, with how many replicas',
  ).from(() => import('./commands/look/list-parts.ts')),
  metrics('splits <ring>', 'partitions that are too large or too small, and what to type').from(
    () => import('./commands/ask/splits.ts'),
  ),
  folder('balance <ring> [version]', 'shares against slots held, per tier and device').from(
    () => import('./commands/ask/balance.ts'),
  ),
  folder('dispersion <ring> [version]', 'how replicas lie in regions, zones and servers').from(
    () => import('./commands/ask/dispersion.ts'),
  ),
  folder('drill <ring> <tier> <names..>', 'what a failure would do, on paper').from(
    () => import('./commands/ask/drill.ts'),
  ),
  folder('table <ring> [version]', 'the whole table: partitions to devices').from(
    () => import('./commands/look/table.ts'),
  ),
];

const history: readonly VerbEntry[] = [
  folder('log <ring>', 'who did what when and why, newest first').from(
    () => import('./commands/history/log.ts'),
  ),
  folder('show <ring> [version]', 'one version: settings, devices, figures').from(
    () => import('./commands/look/show.ts'),
  ),
  folder('diff <ring> [from] [to]', 'what differs between two versions').from(
    () => import('./commands/look/diff.ts'),
  ),
  folder('revert <ring> <version>', 'a new version that goes back to an old placement').from(
    () => import('./commands/history/revert.ts'),
  ),
  folder('rebase <ring>', 'stage again, on the new head, what was staged on an older one').from(
    () => import('./commands/history/rebase.ts'),
  ),
  folder('restore [ring]', 'a ring folder made anew from one ring file or server').from(
    () => import('./commands/history/restore.ts'),
  ),
  folder('archive <ring>', 'move old versions to another folder').from(
    () => import('./commands/history/archive.ts'),
  ),
  folder('prune <ring>', 'delete old versions; the log and its chain stay').from(
    () => import('./commands/history/prune.ts'),
  ),
  folder(
    'verify <ring> [version]',
    'audit every version, the log and builder.json; --optimal proves one',
  ).from(() => import('./commands/history/verify.ts')),
  folder(
    'stores <ring> [folders..]',
    'ring stores that hold the files of a shared history; other ones from now on',
  ).from(() => import('./commands/history/stores.ts')),
];

const sign: readonly VerbEntry[] = [
  folder(
    'key <action> [names..]',
    'signing keys, and the root of trust that says whose count',
  ).from(() => import('./commands/sign/key.ts')),
  folder('sign <ring> [version]', 'add a signature to a version that waits for it').from(
    () => import('./commands/sign/sign.ts'),
  ),
  signature('beacon <ring>', 'tell every server, signed, which version is the newest').from(
    () => import('./commands/sign/beacon.ts'),
  ),
  signature(
    'access <action> [names..]',
    'tokens: who may read, write, operate; signed and sent to all servers',
  ).from(() => import('./commands/sign/access.ts')),
  folder(
    'certs <action> [names..]',
    'an authority and one TLS bundle for each server, made offline; their rotation',
  ).from(() => import('./commands/sign/certs.ts')),
  operator(
    'settle <ring>',
    'after a fork: tell every server that the history here is the right one',
  ).from(() => import('./commands/carry-out/settle.ts')),
];

const complete: readonly VerbEntry[] = [
  folder(
    'completion <shell>',
    'for bash, zsh and fish: completes commands, options, rings and devices',
  ).from(() => import('./completion/completion.ts')),
];

const exchange: readonly VerbEntry[] = [
  folder(
    'import-swift <ring> <file>',
    'a ring or builder file of OpenStack Swift as a new ring',
  ).from(() => import('./commands/exchange/import-swift.ts')),
  folder(
    'export-swift <ring> <file> [version]',
    'a version as a ring or builder file of OpenStack Swift',
  ).from(() => import('./commands/exchange/export-swift.ts')),
  folder('import <ring>', 'a ring in JSON, from a converter of another system').from(
    () => import('./commands/exchange/import.ts'),
  ),
  reads('archive-data <ring>', 'the records of a ring, or of one partition, as a file').from(
    () => import('./commands/exchange/archive-data.ts'),
  ),
  writes('restore-data <ring>', 'records of such a file back, into a ring of any shape').from(
    () => import('./commands/exchange/restore-data.ts'),
  ),
];

interface VerbGroup {
  /** What one does with them: "commands to …". */
  readonly to: string;
  readonly verbs: readonly VerbEntry[];
}

export const verbGroups: readonly VerbGroup[] = [
  { to: 'change', verbs: change },
  { to: 'look before', verbs: lookBefore },
  { to: 'try on paper', verbs: onPaper },
  { to: 'carry out', verbs: carryOut },
  { to: 'watch', verbs: watch },
  { to: 'ask', verbs: ask },
  { to: 'work with history', verbs: history },
  { to: 'sign', verbs: sign },
  { to: 'complete', verbs: complete },
  { to: 'bring and take', verbs: exchange },
];

export const verbs: readonly VerbEntry[] = verbGroups.flatMap((group) => group.verbs);
