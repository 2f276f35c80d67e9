// Messages of operators that the audit log notes, with what they asked for in a few words. Pure.

/** By method: what an operator does, and what a peer or an operator brings. */
const noted: ReadonlySet<string> = new Set([
  'ring-offer',
  'ring-settle',
  'copy-rate',
  'trash-restore',
  'confirm-drops',
  'move-control',
]);

const SHOWN_CHARACTERS = 24;

export function isAudited(method: string): boolean {
  return noted.has(method);
}

/** `keyspace notes, version 7, id 3fa…`: texts and numbers, and how many of the others. */
export function auditedWords(request: unknown): string {
  if (typeof request !== 'object' || request === null) return '';
  return Object.entries(request)
    .map(([name, value]) => `${name} ${wordOf(value)}`)
    .join(', ');
}

function wordOf(value: unknown): string {
  if (Array.isArray(value)) return `(${value.length})`;
  return String(value).slice(0, SHOWN_CHARACTERS);
}
