// A restricted pickle reader: it supports only the opcodes in Swift's files. Pure.
// A general unpickler runs what the file says; this one makes plain data or refuses.

import { build, call, newObject, pushGlobal } from './pickle-calls.ts';
import {
  mark,
  newMachine,
  type PickleMachine,
  pop,
  popMark,
  popTuple,
  push,
  recall,
  remember,
  setMember,
  take,
  top,
} from './pickle-machine.ts';
import type { Pickled } from './pickled.ts';
import { pickleRefused, swiftInvalid } from './swift-file-error.ts';

type Step = (machine: PickleMachine) => void;

const STOP = 0x2e;

/** By opcode, in the terms of Python's pickletools. */
const steps: ReadonlyMap<number, Step> = new Map<number, Step>([
  [0x80, protocol],
  [code('}'), (machine) => push(machine, { kind: 'dict', members: new Map() })],
  [code(']'), (machine) => push(machine, { kind: 'list', items: [] })],
  [code(')'), (machine) => push(machine, popTuple(machine, 0))],
  [0x85, (machine) => push(machine, popTuple(machine, 1))],
  [0x86, (machine) => push(machine, popTuple(machine, 2))],
  [0x87, (machine) => push(machine, popTuple(machine, 3))],
  [code('t'), (machine) => push(machine, { kind: 'tuple', items: popMark(machine) })],
  [code('('), mark],
  [code('q'), (machine) => remember(machine, take(machine, 1).readUInt8())],
  [code('r'), (machine) => remember(machine, take(machine, 4).readUInt32LE())],
  [code('h'), (machine) => recall(machine, take(machine, 1).readUInt8())],
  [code('j'), (machine) => recall(machine, take(machine, 4).readUInt32LE())],
  [code('N'), (machine) => push(machine, null)],
  [0x88, (machine) => push(machine, true)],
  [0x89, (machine) => push(machine, false)],
  [code('K'), (machine) => push(machine, take(machine, 1).readUInt8())],
  [code('M'), (machine) => push(machine, take(machine, 2).readUInt16LE())],
  [code('J'), (machine) => push(machine, take(machine, 4).readInt32LE())],
  [0x8a, (machine) => push(machine, longOf(machine))],
  [code('G'), (machine) => push(machine, floatOf(machine))],
  [code('X'), (machine) => push(machine, unicodeOf(machine))],
  [code('U'), (machine) => push(machine, bytesOf(machine, take(machine, 1).readUInt8()))],
  [code('T'), (machine) => push(machine, bytesOf(machine, take(machine, 4).readUInt32LE()))],
  [code('a'), (machine) => append(machine, [pop(machine)])],
  [code('e'), (machine) => append(machine, popMark(machine))],
  [code('s'), (machine) => setItems(machine, [...popTuple(machine, 2).items])],
  [code('u'), (machine) => setItems(machine, popMark(machine))],
  [code('c'), pushGlobal],
  [code('R'), call],
  [0x81, newObject],
  [code('b'), build],
]);

/**
 * Returns the single value of a pickle of protocol 2 or below. Nothing may follow it. Throws
 * PICKLE_REFUSED, SWIFT_FILE_INVALID when the pickle is cut short, SWIFT_FILE_TOO_LARGE.
 */
export function readPickle(bytes: Buffer): Pickled {
  const machine = newMachine(bytes);
  for (;;) {
    const opcode = take(machine, 1).readUInt8();
    if (opcode === STOP) return result(machine);
    const step = steps.get(opcode);
    if (step === undefined) {
      const hex = opcode.toString(16).padStart(2, '0');
      throw pickleRefused(`opcode 0x${hex}`, machine.at - 1);
    }
    step(machine);
  }
}

function result(machine: PickleMachine): Pickled {
  const { bytes, at, stack, marks } = machine;
  if (at !== bytes.length) throw swiftInvalid('length of the pickle', bytes.length, at);
  const value = pop(machine);
  if (stack.length > 0 || marks.length > 0) throw pickleRefused('more than one value', at);
  return value;
}

function code(character: string): number {
  return character.charCodeAt(0);
}

function protocol(machine: PickleMachine): void {
  const version = take(machine, 1).readUInt8();
  if (version !== 2) throw pickleRefused(`protocol ${version}, Swift writes 2,`, machine.at);
}

function floatOf(machine: PickleMachine): Pickled {
  const value = take(machine, 8).readDoubleBE();
  return Number.isInteger(value) ? { kind: 'float', value } : value;
}

/** LONG1: a whole number in two's complement, little-endian. */
function longOf(machine: PickleMachine): number {
  const bytes = take(machine, take(machine, 1).readUInt8());
  let value = 0n;
  for (const byte of bytes.toReversed()) value = (value << 8n) | BigInt(byte);
  const number = Number(BigInt.asIntN(bytes.length * 8, value));
  if (Number.isSafeInteger(number)) return number;
  throw pickleRefused('a whole number of over 53 bits', machine.at);
}

function unicodeOf(machine: PickleMachine): string {
  const bytes = take(machine, take(machine, 4).readUInt32LE());
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw pickleRefused('text that is not UTF-8', machine.at);
  }
}

/** Python 2 text without a stated encoding: UTF-8 if valid, else Latin-1. */
function bytesOf(machine: PickleMachine, length: number): string {
  const bytes = take(machine, length);
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : bytes.toString('latin1');
}

function append(machine: PickleMachine, values: readonly Pickled[]): void {
  const { items } = top(machine, 'list');
  for (const value of values) items.push(value);
}

function setItems(machine: PickleMachine, values: readonly Pickled[]): void {
  const { members } = top(machine, 'dict');
  if (values.length % 2 === 1) throw pickleRefused('a key without value', machine.at);
  for (let at = 0; at < values.length; at += 2) {
    const [key, value] = [values[at], values[at + 1]];
    // Other keys occur only in the dispersion graph, which is recomputed anyway.
    if (typeof key === 'string' && value !== undefined) setMember(machine, members, [key, value]);
  }
}
