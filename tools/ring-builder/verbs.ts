// The table of commands: usage, one line, and the file that does it, loaded when it is asked for.
import type { VerbEntry } from './verb.ts';

export const verbs: readonly VerbEntry[] = [
  {
    usage: 'create <ring>',
    summary: 'a new ring: its partitions and replicas, no devices yet',
    load: () => import('./commands/create.ts'),
  },
  {
    usage: 'add <ring> [devices..]',
    summary: 'stage devices to join the ring',
    load: () => import('./commands/add.ts'),
  },
  {
    usage: 'remove <ring> <devices..>',
    summary: 'stage devices to leave the ring',
    load: () => import('./commands/remove.ts'),
  },
  {
    usage: 'set-weight <ring> <pairs..>',
    summary: 'stage other weights',
    load: () => import('./commands/set-weight.ts'),
  },
  {
    usage: 'set-device <ring> <device>',
    summary: 'stage another address, zone or meta of a device',
    load: () => import('./commands/set-device.ts'),
  },
  {
    usage: 'set <ring>',
    summary: 'stage other settings of the ring',
    load: () => import('./commands/set.ts'),
  },
  {
    usage: 'maintenance <ring> <devices..>',
    summary: 'stage devices to get nothing and, unless --no-target, to keep all they have',
    load: () => import('./commands/maintenance.ts'),
  },
  {
    usage: 'pin <ring> <partition>',
    summary: 'stage devices that must, or must not, hold a partition',
    load: () => import('./commands/pin.ts'),
  },
  {
    usage: 'unpin <ring> <partition>',
    summary: 'stage a partition to go where shares want it',
    load: () => import('./commands/unpin.ts'),
  },
  {
    usage: 'ramp <ring> <device> [weight]',
    summary: 'stage a weight to be reached by steps, inside a window of time',
    load: () => import('./commands/ramp.ts'),
  },
  {
    usage: 'unstage <ring> [numbers..]',
    summary: 'forget what is staged, all or some',
    load: () => import('./commands/unstage.ts'),
  },
  {
    usage: 'list',
    summary: 'the rings of the folder: head, servers, and what waits',
    load: () => import('./commands/list.ts'),
  },
  {
    usage: 'status <ring>',
    summary: 'the head, what is staged, and the next command to type',
    load: () => import('./commands/status.ts'),
  },
  {
    usage: 'plan <ring>',
    summary: 'what a commit would do; changes nothing',
    load: () => import('./commands/plan.ts'),
  },
  {
    usage: 'commit <ring>',
    summary: 'make what is staged the next version',
    load: () => import('./commands/commit.ts'),
  },
  {
    usage: 'sign <ring> [version]',
    summary: 'add a signature to a version that waits for it',
    load: () => import('./commands/sign.ts'),
  },
  {
    usage: 'push <ring> [version]',
    summary: 'send a version to the servers of the ring',
    load: () => import('./commands/push.ts'),
  },
  {
    usage: 'rollout <ring>',
    summary: 'drive the moves of the head to their end; may be stopped and typed again',
    load: () => import('./commands/rollout.ts'),
  },
  {
    usage: 'settle <ring>',
    summary: 'after a fork: tell every server that the history here is the right one',
    load: () => import('./commands/settle.ts'),
  },
  {
    usage: 'beacon <ring>',
    summary: 'tell every server, signed, which version is the newest',
    load: () => import('./commands/beacon.ts'),
  },
  {
    usage: 'key <action> [names..]',
    summary: 'signing keys, and the root of trust that says whose count',
    load: () => import('./commands/key.ts'),
  },
  {
    usage: 'moves <ring> <action> [which..]',
    summary: 'slots on their way: list, pause, resume, cancel, retry, prioritise, force',
    load: () => import('./commands/moves.ts'),
  },
  {
    usage: 'reconcile <ring>',
    summary: 'the ring against the disks: absent, partial, left over, duplicated',
    load: () => import('./commands/reconcile.ts'),
  },
  {
    usage: 'trash <ring> <action> [names..]',
    summary: 'dropped partition files: list, restore; confirm drops that are held',
    load: () => import('./commands/trash.ts'),
  },
  {
    usage: 'health [ring]',
    summary: 'all rings on one screen: what is down, forked, held back, not ready or stalled',
    load: () => import('./commands/health.ts'),
  },
  {
    usage: 'servers <ring>',
    summary: 'which server has which version in memory, and why',
    load: () => import('./commands/servers.ts'),
  },
  {
    usage: 'log <ring>',
    summary: 'who did what when and why, newest first',
    load: () => import('./commands/log.ts'),
  },
  {
    usage: 'show <ring> [version]',
    summary: 'one version: settings, devices, figures',
    load: () => import('./commands/show.ts'),
  },
  {
    usage: 'diff <ring> [from] [to]',
    summary: 'what differs between two versions',
    load: () => import('./commands/diff.ts'),
  },
  {
    usage: 'table <ring> [version]',
    summary: 'the whole table: partitions to devices',
    load: () => import('./commands/table.ts'),
  },
  {
    usage: 'lookup <ring> [keys..]',
    summary: 'partition, devices in order and handoffs of keys',
    load: () => import('./commands/lookup.ts'),
  },
  {
    usage: 'import-swift <ring> <file>',
    summary: 'a ring or builder file of OpenStack Swift as a new ring',
    load: () => import('./commands/import-swift.ts'),
  },
  {
    usage: 'export-swift <ring> <file> [version]',
    summary: 'a version as a ring or builder file of OpenStack Swift',
    load: () => import('./commands/export-swift.ts'),
  },
  {
    usage: 'import <ring>',
    summary: 'a ring in JSON, from a converter of another system',
    load: () => import('./commands/import.ts'),
  },
  {
    usage: 'why <ring> <what>',
    summary: 'which rule placed a slot, which version moved it, what blocks it',
    load: () => import('./commands/why.ts'),
  },
  {
    usage: 'balance <ring> [version]',
    summary: 'shares against slots held, per tier and device',
    load: () => import('./commands/balance.ts'),
  },
  {
    usage: 'dispersion <ring> [version]',
    summary: 'how replicas lie in regions, zones and servers',
    load: () => import('./commands/dispersion.ts'),
  },
  {
    usage: 'frontier <ring> [overloads..]',
    summary: 'what each overload would buy, and cost',
    load: () => import('./commands/frontier.ts'),
  },
  {
    usage: 'drill <ring> <tier> <names..>',
    summary: 'what a failure would do, on paper',
    load: () => import('./commands/drill.ts'),
  },
  {
    usage: 'simulate <scenario>',
    summary: 'a list of changes on paper, with figures for each step',
    load: () => import('./commands/simulate.ts'),
  },
  {
    usage: 'revert <ring> <version>',
    summary: 'a new version that goes back to an old placement',
    load: () => import('./commands/revert.ts'),
  },
  {
    usage: 'stores <ring> [folders..]',
    summary: 'ring stores that hold the files of a shared history; other ones from now on',
    load: () => import('./commands/stores.ts'),
  },
  {
    usage: 'rebase <ring>',
    summary: 'stage again, on the new head, what was staged on an older one',
    load: () => import('./commands/rebase.ts'),
  },
  {
    usage: 'restore [ring]',
    summary: 'a ring folder made anew from one ring file or server',
    load: () => import('./commands/restore.ts'),
  },
  {
    usage: 'archive <ring>',
    summary: 'move old versions to another folder',
    load: () => import('./commands/archive.ts'),
  },
  {
    usage: 'prune <ring>',
    summary: 'delete old versions; the log and its chain stay',
    load: () => import('./commands/prune.ts'),
  },
  {
    usage: 'verify <ring> [version]',
    summary: 'audit every version, the log and builder.json; --optimal proves one',
    load: () => import('./commands/verify.ts'),
  },
  {
    usage: 'completion <shell>',
    summary: 'for bash, zsh and fish: completes commands, options, rings and devices',
    load: () => import('./commands/completion.ts'),
  },
];
