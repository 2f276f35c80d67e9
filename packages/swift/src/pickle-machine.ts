// The state of a pickle while it is read: bytes, stack, marks, memo; every growth is capped. Pure.
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
  /** Lists that became arrays: their numbers are let go, so nothing may ask for them again. */
  readonly spent: WeakSet<PickledList>;
  /** Estimated bytes of all values that are still held. */
  memory: number;
}

/** Of V8, rounded up; a container counts its own values apart. */
export const BYTES_PER_REFERENCE = 8;
const BYTES_PER_CONTAINER = 256;
const BYTES_PER_TEXT = 48;
const BYTES_PER_ENTRY = 64;

export function newMachine(bytes: Buffer): PickleMachine {
  return { bytes, at: 0, stack: [], marks: [], memo: new Map(), spent: new WeakSet(), memory: 0 };
}

/** The next bytes, checked to be there before anything is taken. */
export function take(machine: PickleMachine, count: number): Buffer {
  const end = machine.at + count;
  if (end > machine.bytes.length) {
    throw swiftInvalid('length of the pickle', machine.bytes.length, `${end} or more`);
  }
  const taken = machine.bytes.subarray(machine.at, end);
  machine.at = end;
  return taken;
}

/** Text up to the next newline, of the arguments of GLOBAL. */
export function takeLine(machine: PickleMachine): string {
  const end = machine.bytes.indexOf(0x0a, machine.at);
  const length = end - machine.at;
  if (end < 0 || length > 128) throw pickleRefused('a name of over 128 bytes', machine.at);
  const line = take(machine, length).toString('latin1');
  machine.at += 1;
  return line;
}

/** Puts a new value on the stack. */
export function push(machine: PickleMachine, value: Pickled): void {
  if (typeof value === 'string') hold(machine, BYTES_PER_TEXT + 2 * value.length);
  if (typeof value === 'object' && value !== null) hold(machine, BYTES_PER_CONTAINER);
  pushKnown(machine, value);
}

/** Counts memory before it grows; arrays give back what their lists took. */
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

/** Takes the top value; values below an open mark belong to it. */
export function pop(machine: PickleMachine): Pickled {
  const value =
    machine.stack.length > (machine.marks.at(-1) ?? 0) ? machine.stack.pop() : undefined;
  if (value === undefined) throw pickleRefused('a value is missing', machine.at);
  return value;
}

/** The value on top, which stays, when it is of this kind. */
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
    // Kinds name the members of the union one to one.
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

/** All values since the last mark. */
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
