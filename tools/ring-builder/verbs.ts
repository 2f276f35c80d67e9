// The table of commands, in groups: usage, one line, and the file that does it, loaded when it is
// asked for. The help and the README's table have its groups and its order.
import { ask } from './ask-verbs.ts';
import type { VerbEntry } from './cli/verb.ts';
import { exchange } from './exchange-verbs.ts';

const change: readonly VerbEntry[] = [
  {
    usage: 'create <ring>',
    summary: 'a new ring: its partitions and replicas, no devices yet',
    load: () => import('./commands/change/create.ts'),
  },
  {
    usage: 'compose <ring> <components..>',
    summary: 'a ring whose replicas are those of other rings, or its next version',
    load: () => import('./commands/change/compose.ts'),
  },
  {
    usage: 'add <ring> [devices..]',
    summary: 'stage devices to join the ring',
    load: () => import('./commands/change/add.ts'),
  },
  {
    usage: 'remove <ring> <devices..>',
    summary: 'stage devices to leave the ring',
    load: () => import('./commands/change/remove.ts'),
  },
  {
    usage: 'replace <ring> <old> <new>',
    summary: 'stage a device, or a whole server, to be taken over by new ones, slot by slot',
    load: () => import('./commands/change/replace.ts'),
  },
  {
    usage: 'set-weight <ring> <pairs..>',
    summary: 'stage other weights',
    load: () => import('./commands/change/set-weight.ts'),
  },
  {
    usage: 'set-device <ring> <device>',
    summary: 'stage another address, zone, key or meta of a device',
    load: () => import('./commands/change/set-device.ts'),
  },
  {
    usage: 'set <ring>',
    summary: 'stage other settings of the ring',
    load: () => import('./commands/change/set.ts'),
  },
  {
    usage: 'ramp <ring> <device> [weight]',
    summary: 'stage a weight to be reached by steps, inside a window of time',
    load: () => import('./commands/change/ramp.ts'),
  },
  {
    usage: 'split <ring> <partition>',
    summary: 'stage several partitions in the place of one',
    load: () => import('./commands/change/split.ts'),
  },
  {
    usage: 'merge <ring> <partition> <other>',
    summary: 'stage one partition in the place of two neighbours',
    load: () => import('./commands/change/merge.ts'),
  },
  {
    usage: 'retire <ring>',
    summary: 'stage the end of ranges before a key, with what they hold',
    load: () => import('./commands/change/retire.ts'),
  },
  {
    usage: 'pin <ring> <partition>',
    summary: 'stage devices that must, or must not, hold a partition',
    load: () => import('./commands/change/pin.ts'),
  },
  {
    usage: 'unpin <ring> <partition>',
    summary: 'stage a partition to go where shares want it',
    load: () => import('./commands/change/unpin.ts'),
  },
  {
    usage: 'maintenance <ring> <devices..>',
    summary: 'stage devices to get nothing and, unless --no-target, to keep all they have',
    load: () => import('./commands/change/maintenance.ts'),
  },
  {
    usage: 'unstage <ring> [numbers..]',
    summary: 'forget what is staged, all or some',
    load: () => import('./commands/change/unstage.ts'),
  },
];

const lookBefore: readonly VerbEntry[] = [
  {
    usage: 'list',
    summary: 'the rings of the folder: head, servers, and what waits',
    load: () => import('./commands/look/list.ts'),
  },
  {
    usage: 'status <ring>',
    summary: 'the head, what is staged, and the next command to type',
    load: () => import('./commands/look/status.ts'),
  },
  {
    usage: 'plan <ring>',
    summary: 'what a commit would do; changes nothing',
    load: () => import('./commands/carry-out/plan.ts'),
  },
  {
    usage: 'frontier <ring> [overloads..]',
    summary: 'what each overload would buy, and cost',
    load: () => import('./commands/ask/frontier.ts'),
  },
  {
    usage: 'simulate <scenario>',
    summary: 'a list of changes on paper, with figures for each step',
    load: () => import('./commands/ask/simulate.ts'),
  },
  {
    usage: 'compare <scenario>',
    summary: 'ways to place data side by side: evenness, moves, scans, lookups; a picture',
    load: () => import('./commands/ask/compare.ts'),
  },
];

const carryOut: readonly VerbEntry[] = [
  {
    usage: 'commit <ring>',
    summary: 'make what is staged the next version',
    load: () => import('./commands/carry-out/commit.ts'),
  },
  {
    usage: 'push <ring> [version]',
    summary: 'send a version to the servers of the ring',
    load: () => import('./commands/carry-out/push.ts'),
  },
  {
    usage: 'rollout <ring>',
    summary: 'drive the moves of the head to their end; may be stopped and typed again',
    load: () => import('./commands/carry-out/rollout.ts'),
  },
  {
    usage: 'moves <ring> <action> [which..]',
    summary: 'slots on their way: list, pause, resume, cancel, retry, prioritise, force, rate',
    load: () => import('./commands/carry-out/moves.ts'),
  },
  {
    usage: 'reconcile <ring>',
    summary: 'the ring against the disks: absent, partial, left over, duplicated',
    load: () => import('./commands/carry-out/reconcile.ts'),
  },
  {
    usage: 'trash <ring> <action> [names..]',
    summary: 'dropped partition files: list, restore; confirm drops that are held',
    load: () => import('./commands/carry-out/trash.ts'),
  },
];

const watch: readonly VerbEntry[] = [
  {
    usage: 'health [ring]',
    summary: 'all rings on one screen: what is down, forked, held back, not ready or stalled',
    load: () => import('./commands/look/health.ts'),
  },
  {
    usage: 'servers <ring>',
    summary: 'which server has which version in memory, and why',
    load: () => import('./commands/look/servers.ts'),
  },
];

const history: readonly VerbEntry[] = [
  {
    usage: 'log <ring>',
    summary: 'who did what when and why, newest first',
    load: () => import('./commands/history/log.ts'),
  },
  {
    usage: 'show <ring> [version]',
    summary: 'one version: settings, devices, figures',
    load: () => import('./commands/look/show.ts'),
  },
  {
    usage: 'diff <ring> [from] [to]',
    summary: 'what differs between two versions',
    load: () => import('./commands/look/diff.ts'),
  },
  {
    usage: 'revert <ring> <version>',
    summary: 'a new version that goes back to an old placement',
    load: () => import('./commands/history/revert.ts'),
  },
  {
    usage: 'rebase <ring>',
    summary: 'stage again, on the new head, what was staged on an older one',
    load: () => import('./commands/history/rebase.ts'),
  },
  {
    usage: 'restore [ring]',
    summary: 'a ring folder made anew from one ring file or server',
    load: () => import('./commands/history/restore.ts'),
  },
  {
    usage: 'archive <ring>',
    summary: 'move old versions to another folder',
    load: () => import('./commands/history/archive.ts'),
  },
  {
    usage: 'prune <ring>',
    summary: 'delete old versions; the log and its chain stay',
    load: () => import('./commands/history/prune.ts'),
  },
  {
    usage: 'verify <ring> [version]',
    summary: 'audit every version, the log and builder.json; --optimal proves one',
    load: () => import('./commands/history/verify.ts'),
  },
  {
    usage: 'stores <ring> [folders..]',
    summary: 'ring stores that hold the files of a shared history; other ones from now on',
    load: () => import('./commands/history/stores.ts'),
  },
];

const sign: readonly VerbEntry[] = [
  {
    usage: 'key <action> [names..]',
    summary: 'signing keys, and the root of trust that says whose count',
    load: () => import('./commands/sign/key.ts'),
  },
  {
    usage: 'sign <ring> [version]',
    summary: 'add a signature to a version that waits for it',
    load: () => import('./commands/sign/sign.ts'),
  },
  {
    usage: 'beacon <ring>',
    summary: 'tell every server, signed, which version is the newest',
    load: () => import('./commands/sign/beacon.ts'),
  },
  {
    usage: 'access <action> [names..]',
    summary: 'tokens: who may read, write, operate; signed and sent to all servers',
    load: () => import('./commands/sign/access.ts'),
  },
  {
    usage: 'certs <action> [names..]',
    summary: 'an authority and one TLS bundle for each server, made offline; their rotation',
    load: () => import('./commands/sign/certs.ts'),
  },
  {
    usage: 'settle <ring>',
    summary: 'after a fork: tell every server that the history here is the right one',
    load: () => import('./commands/carry-out/settle.ts'),
  },
];

const complete: readonly VerbEntry[] = [
  {
    usage: 'completion <shell>',
    summary: 'for bash, zsh and fish: completes commands, options, rings and devices',
    load: () => import('./completion/completion.ts'),
  },
];

interface VerbGroup {
  /** What one does with them: "commands to …". */
  readonly to: string;
  readonly verbs: readonly VerbEntry[];
}

export const verbGroups: readonly VerbGroup[] = [
  { to: 'change', verbs: change },
  { to: 'look before', verbs: lookBefore },
  { to: 'carry out', verbs: carryOut },
  { to: 'watch', verbs: watch },
  { to: 'ask', verbs: ask },
  { to: 'work with history', verbs: history },
  { to: 'sign', verbs: sign },
  { to: 'complete', verbs: complete },
  { to: 'bring and take', verbs: exchange },
];

export const verbs: readonly VerbEntry[] = verbGroups.flatMap((group) => group.verbs);
