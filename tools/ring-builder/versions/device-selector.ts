// Selectors: choose devices of a ring by terms that must all hold. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import type { BuilderDevice } from '@ringwright/builder/state/builder-state';

export const selectorForm =
  'terms, with commas between, that must all match: r1, z2, r1z2, d7, @10.0.0.1, @10.0.0.1:6200, ' +
  ':6200, /sdb, name=sdb, meta=TEXT (contained), weight<5 (also <=, >, >=, =, !=), ' +
  'state=removed, hold=maintenance, all';

type Test = (device: BuilderDevice) => boolean;

const texts: Readonly<Record<string, (device: BuilderDevice) => string>> = {
  name: ({ device }) => device,
  ip: ({ ip }) => ip,
  state: ({ state }) => state,
  hold: ({ hold }) => hold ?? 'none',
};

const numbers: Readonly<Record<string, (device: BuilderDevice) => number>> = {
  id: ({ id }) => id,
  region: ({ region }) => region,
  zone: ({ zone }) => zone,
  port: ({ port }) => port,
  weight: ({ weight }) => weight,
};

const comparisons: Readonly<Record<string, (one: number, other: number) => boolean>> = {
  '<': (one, other) => one < other,
  '<=': (one, other) => one <= other,
  '>': (one, other) => one > other,
  '>=': (one, other) => one >= other,
  '=': (one, other) => one === other,
  '!=': (one, other) => one !== other,
};

/** Returns null if the word is no selector and may be a device name. Throws DEVICE_INVALID. */
export function selectorOf(word: string): Test | null {
  // Everything after meta= is one term, because the text may contain commas.
  const [, before = '', meta] = /^(.*?)(?:(?:^|,)meta=(.*))?$/s.exec(word) ?? [];
  const terms = before === '' ? [] : before.split(',');
  const tests = terms.map((term) => termOf(term, word));
  if (meta !== undefined) tests.push((device) => device.meta.includes(meta));
  const known = tests.filter((test) => test !== null);
  if (known.length < tests.length) {
    if (tests.length === 1) return null;
    throw unreadable(word, terms[tests.indexOf(null)] ?? '');
  }
  return known.length === 0 ? null : (device) => known.every((test) => test(device));
}

function termOf(term: string, word: string): Test | null {
  if (term === 'all') return () => true;
  return tierTerm(term) ?? addressTerm(term) ?? comparison(term, word);
}

function tierTerm(term: string): Test | null {
  const parts = /^(?:r(\d{1,9}))?(?:z(\d{1,9}))?$/.exec(term);
  const id = /^d(\d{1,9})$/.exec(term)?.[1];
  if (id !== undefined) return (device) => device.id === Number(id);
  if (parts === null || term === '') return null;
  const [, region, zone] = parts;
  return (device) =>
    (region === undefined || device.region === Number(region)) &&
    (zone === undefined || device.zone === Number(zone));
}

function addressTerm(term: string): Test | null {
  const port = /^:(\d{1,5})$/.exec(term)?.[1];
  if (port !== undefined) return (device) => device.port === Number(port);
  if (term.startsWith('/') && term.length > 1) return ({ device }) => device === term.slice(1);
  if (!term.startsWith('@')) return null;
  const address = term.slice(1).toLowerCase();
  return ({ ip, port }) => [ip, `[${ip}]`, `${ip}:${port}`, `[${ip}]:${port}`].includes(address);
}

function comparison(term: string, word: string): Test | null {
  const [, name = '', sign = '', value = ''] = /^([a-z]+)(<=|>=|!=|<|>|=)(.*)$/s.exec(term) ?? [];
  const [text, number, compare] = [texts[name], numbers[name], comparisons[sign]];
  if (text === undefined && number === undefined) return null;
  if (text !== undefined && sign === '=') return (device) => text(device) === value;
  if (text !== undefined && sign === '!=') return (device) => text(device) !== value;
  const operand = Number(value);
  const isNumber = value.trim() !== '' && !Number.isNaN(operand);
  if (number === undefined || compare === undefined || !isNumber) throw unreadable(word, term);
  return (device) => compare(number(device), operand);
}

function unreadable(word: string, term: string): CodedError {
  return new CodedError(
    'DEVICE_INVALID',
    `${JSON.stringify(term)} in ${JSON.stringify(word)} is not a term of a selector`,
    { hint: selectorForm, details: { selector: word, term } },
  );
}
