// The state while a pickle is read: bytes, stack, marks, memo. All growth is capped. Pure.
import { pickleMemoryBytesMax, pickleStackMax } from '@ringwright/base/limits';
import { kindOf, type Pickled, type PickledList, type PickledTuple } from './pickled.ts';
import { pickleRefused, swiftInvalid, swiftTooLarge } from './swift-file-error.ts';

export interface PickleMachine {
  readonly bytes: Buffer;
  at: number;
  readonly stack: Pickled[];
  /** Heights of the stack at the open marks. */
  readonly marks: number[];
  readonly memo: Map<number, Pickled>;
  /** Lists that became arrays: their items are released, so they must not be used again. */
  readonly spent: WeakSet<PickledList>;
  /** Estimated bytes of all values that are still held. */
  memory: number;
}

/** Sizes in V8, rounded up; the values in a container are counted separately. */
export const BYTES_PER_REFERENCE = 8;
const BYTES_PER_CONTAINER = 256;
const BYTES_PER_TEXT = 48;
const BYTES_PER_ENTRY = 64;

export function newMachine(bytes: Buffer): PickleMachine {
  return { bytes, at: 0, stack: [], marks: [], memo: new Map(), spent: new WeakSet(), memory: 0 };
}

/** Returns the next bytes, after checking that they exist. */
export function take(machine: PickleMachine, count: number): Buffer {
  const end = machine.at + count;
  if (end > machine.bytes.length) {
    throw swiftInvalid('length of the pickle', machine.bytes.length, `${end} or more`);
  }
  const bytes = machine.bytes.subarray(machine.at, end);
  machine.at = end;
  return bytes;
}

/** Returns text up to the next newline: the arguments of GLOBAL. */
export function takeLine(machine: PickleMachine): string {
  const end = machine.bytes.indexOf(0x0a, machine.at);
  const length = end - machine.at;
  if (end < 0 || length > 128) throw pickleRefused('a name of over 128 bytes', machine.at);
  const line = take(machine, length).toString('latin1');
  machine.at += 1;
  return line;
}

/** Pushes a new value on the stack. */
export function push(machine: PickleMachine, value: Pickled): void {
  if (typeof value === 'string') hold(machine, BYTES_PER_TEXT + 2 * value.length);
  if (typeof value === 'object' && value !== null) hold(machine, BYTES_PER_CONTAINER);
  pushKnown(machine, value);
}

/** Counts memory before it is allocated. Negative: releases a list that became an array. */
export function hold(machine: PickleMachine, bytes: number): void {
  machine.memory += bytes;
  if (machine.memory > pickleMemoryBytesMax) {
    throw swiftTooLarge('bytes of memory for the pickle', machine.memory, pickleMemoryBytesMax);
  }
}

function pushKnown(machine: PickleMachine, value: Pickled): void {
  hold(machine, BYTES_PER_REFERENCE);
  if (machine.stack.length >= pickleStackMax) {
    throw swiftTooLarge('values waiting in the pickle', machine.stack.length + 1, pickleStackMax);
  }
  machine.stack.push(value);
}

/** Pops the top value. Values below an open mark cannot be popped. */
export function pop(machine: PickleMachine): Pickled {
  const value =
    machine.stack.length > (machine.marks.at(-1) ?? 0) ? machine.stack.pop() : undefined;
  if (value === undefined) throw pickleRefused('a value is missing', machine.at);
  return value;
}

/** Returns the top value without popping it. Throws when it is of another kind. */
export function top<K extends 'list' | 'dict' | 'instance'>(
  machine: PickleMachine,
  kind: K,
): Extract<Pickled, { readonly kind: K }> {
  const value = pop(machine);
  machine.stack.push(value);
  return ofKind(machine, value, kind);
}

export function ofKind<K extends 'list' | 'tuple' | 'dict' | 'instance' | 'global'>(
  machine: PickleMachine,
  value: Pickled | undefined,
  kind: K,
): Extract<Pickled, { readonly kind: K }> {
  if (typeof value === 'object' && value?.kind === kind) {
    // Kinds correspond one to one to the members of the union.
    return value as Extract<Pickled, { readonly kind: K }>;
  }
  throw pickleRefused(`a ${kindOf(value)} where a ${kind} belongs`, machine.at);
}

export function setMember(
  machine: PickleMachine,
  members: Map<string, Pickled>,
  [key, value]: readonly [string, Pickled],
): void {
  if (!members.has(key)) hold(machine, BYTES_PER_ENTRY);
  members.set(key, value);
}

export function mark(machine: PickleMachine): void {
  if (machine.marks.length >= pickleStackMax) {
    throw swiftTooLarge('marks of the pickle', machine.marks.length + 1, pickleStackMax);
  }
  machine.marks.push(machine.stack.length);
}

/** Pops all values since the last mark. */
export function popMark(machine: PickleMachine): Pickled[] {
  const height = machine.marks.pop();
  if (height === undefined) throw pickleRefused('a mark is missing', machine.at);
  return machine.stack.splice(height);
}

export function popTuple(machine: PickleMachine, count: number): PickledTuple {
  const items = Array.from({ length: count }, () => pop(machine)).reverse();
  return { kind: 'tuple', items };
}

export function remember(machine: PickleMachine, index: number): void {
  const value = pop(machine);
  machine.stack.push(value);
  if (!machine.memo.has(index)) hold(machine, BYTES_PER_ENTRY);
  machine.memo.set(index, value);
}

export function recall(machine: PickleMachine, index: number): void {
  const value = machine.memo.get(index);
  if (value === undefined) throw pickleRefused(`value ${index} was never remembered`, machine.at);
  if (typeof value === 'object' && value?.kind === 'list' && machine.spent.has(value)) {
    throw pickleRefused(`value ${index} was used up by an array`, machine.at);
  }
  pushKnown(machine, value);
}
