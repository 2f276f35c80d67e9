// The table of commands: usage, one line, and the file that does it, loaded when it is asked for.
import type { Verb } from './verb.ts';

export interface VerbEntry {
  /** In yargs' notation; the first word is the name. */
  readonly usage: string;
  readonly summary: string;
  readonly load: () => Promise<{ readonly verb: Verb }>;
}

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
    usage: 'unstage <ring>',
    summary: 'forget what is staged',
    load: () => import('./commands/unstage.ts'),
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
    usage: 'verify <ring> [version]',
    summary: 'audit every version, the log and builder.json; --optimal proves one',
    load: () => import('./commands/verify.ts'),
  },
];
