// The first bytes of a connection between two carriers: a ticket, then a length. Pure.

/** Ringwright copy protocol, format 1. */
const MAGIC = Buffer.from('RWc1');
const TICKET_BYTES = 32;
const LENGTH_BYTES = 8;

/** The joiner sends the ticket. */
export const greetingBytes = MAGIC.length + TICKET_BYTES;
/** The source answers with the number of bytes that follow, and then these. */
export const headBytes = MAGIC.length + LENGTH_BYTES;

export function packGreeting(ticket: string): Buffer {
  return Buffer.concat([MAGIC, Buffer.from(ticket, 'hex')]);
}

export function ticketOf(greeting: Buffer): string | null {
  if (greeting.length !== greetingBytes || !beginsRightly(greeting)) return null;
  return greeting.toString('hex', MAGIC.length);
}

export function packHead(bytes: number): Buffer {
  const head = Buffer.alloc(headBytes);
  MAGIC.copy(head);
  head.writeBigUInt64BE(BigInt(bytes), MAGIC.length);
  return head;
}

export function lengthOf(head: Buffer): number | null {
  if (head.length !== headBytes || !beginsRightly(head)) return null;
  return Number(head.readBigUInt64BE(MAGIC.length));
}

function beginsRightly(bytes: Buffer): boolean {
  return bytes.subarray(0, MAGIC.length).equals(MAGIC);
}
