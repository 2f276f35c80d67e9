// JSON exactly as Python's json.dumps(sort_keys=True) writes it: ASCII only, ", " and ": ". Pure.
import type { Json } from '@ringwright/base/canonical-json';

export function asciiJson(value: Json): string {
  if (typeof value === 'string') return asciiText(value);
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (isList(value)) return `[${value.map(asciiJson).join(', ')}]`;
  return asciiObject(
    Object.entries(value).flatMap(([name, member]): [string, string][] =>
      member === undefined ? [] : [[name, asciiJson(member)]],
    ),
  );
}

/** Returns an object whose members are already JSON. */
export function asciiObject(members: readonly (readonly [name: string, json: string])[]): string {
  const sorted = members.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, json]) => `${asciiText(name)}: ${json}`).join(', ')}}`;
}

/** Returns a number that Python reads as a float. */
export function floatJson(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e16 ? `${value}.0` : String(value);
}

export function isList(value: object): value is readonly Json[] {
  return Array.isArray(value);
}

function asciiText(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
