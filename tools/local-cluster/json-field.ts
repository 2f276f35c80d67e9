// Reads one field of a JSON answer by its path, and says which one is missing. Pure.
import { failure } from './failure.ts';
import type { JsonObject } from './ring-builder.ts';

/** The value at `path` (`copied.bytes`); undefined where a part of the way is missing. */
export function fieldAt(document: JsonObject, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null ? (value as JsonObject)[name] : undefined,
      document,
    );
}

export function numberAt(document: JsonObject, path: string): number {
  const value = fieldAt(document, path);
  if (typeof value === 'number') return value;
  throw failure(`the answer has no number at ${path}: ${JSON.stringify(document).slice(0, 300)}`);
}

/** A count that may be written as a number or as the list that is counted. */
export function countAt(document: JsonObject, path: string): number {
  const value = fieldAt(document, path);
  return Array.isArray(value) ? value.length : numberAt(document, path);
}
