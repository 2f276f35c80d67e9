// What the audit log says of what a server does by itself: its rings, and its files. Pure.

import type { AuditEvent } from '@ringwright/access/audit-line';
import type { Ring } from '@ringwright/ring/ring';

const who = 'this server';

export function activated(active: { readonly ring: Ring; readonly id: string }): AuditEvent {
  const { keyspace, version } = active.ring;
  return { kind: 'ring', who, what: `${keyspace} ${version}, ${active.id.slice(0, 12)}: active` };
}

export function dropped(keyspace: string, partition: number): AuditEvent {
  return { kind: 'drop', who, what: `${keyspace}/${partition}: to the trash` };
}
