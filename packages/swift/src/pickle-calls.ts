// The few names that a pickle may use and call: they make arrays and empty instances. Pure.

import {
  BYTES_PER_REFERENCE,
  hold,
  ofKind,
  type PickleMachine,
  pop,
  push,
  setMember,
  takeLine,
} from './pickle-machine.ts';
import type { Pickled, PickledArray, PickledInstance, PickledTuple } from './pickled.ts';
import { kindOf } from './pickled.ts';
import { pickleRefused } from './swift-file-error.ts';

const swiftClasses = ['swift.common.ring.ring RingData', 'swift.common.ring.builder RingBuilder'];
const reconstructors = ['copy_reg _reconstructor', 'copyreg _reconstructor'];
const bases = ['__builtin__ object', 'builtins object'];
const arrayName = 'array array';
const allowed = [arrayName, ...swiftClasses, ...reconstructors, ...bases];

/** GLOBAL: a module and a name in it. Nothing is imported; other names are refused. */
export function pushGlobal(machine: PickleMachine): void {
  const name = `${takeLine(machine)} ${takeLine(machine)}`;
  if (!allowed.includes(name)) {
    throw pickleRefused(`the name ${JSON.stringify(name)} is asked for`, machine.at);
  }
  push(machine, { kind: 'global', name });
}

/** REDUCE: calls a name with a tuple of arguments. */
export function call(machine: PickleMachine): void {
  const args = ofKind(machine, pop(machine), 'tuple');
  const { name } = ofKind(machine, pop(machine), 'global');
  if (name === arrayName) push(machine, arrayOf(machine, args));
  else if (reconstructors.includes(name)) push(machine, reconstructed(machine, args));
  else throw pickleRefused(`a call of ${name}`, machine.at);
}

/** NEWOBJ: an instance of a class without arguments. */
export function newObject(machine: PickleMachine): void {
  const args = ofKind(machine, pop(machine), 'tuple');
  const { name } = ofKind(machine, pop(machine), 'global');
  if (args.items.length > 0) throw pickleRefused(`arguments for a new ${name}`, machine.at);
  push(machine, instanceOf(machine, name));
}

/** BUILD: fills an instance from a dictionary. */
export function build(machine: PickleMachine): void {
  const { members } = ofKind(machine, pop(machine), 'dict');
  const instance = ofKind(machine, pop(machine), 'instance');
  for (const member of members) setMember(machine, instance.members, member);
  push(machine, instance);
}

function reconstructed(machine: PickleMachine, { items }: PickledTuple): PickledInstance {
  const [type, base, state] = items;
  const { name } = ofKind(machine, type, 'global');
  const plain = bases.includes(ofKind(machine, base, 'global').name) && state === null;
  if (!plain || items.length !== 3) throw pickleRefused(`an odd copy of ${name}`, machine.at);
  return instanceOf(machine, name);
}

function instanceOf(machine: PickleMachine, name: string): PickledInstance {
  if (swiftClasses.includes(name)) return { kind: 'instance', name, members: new Map() };
  throw pickleRefused(`an instance of ${name}`, machine.at);
}

function arrayOf(machine: PickleMachine, { items }: PickledTuple): PickledArray {
  const [code, content] = items;
  const list = ofKind(machine, content, 'list');
  if (items.length !== 2)
    throw pickleRefused('an array of more than a type and a list', machine.at);
  hold(machine, 4 * list.items.length);
  const made = emptyArray(machine, code, list.items.length);
  const max = 2 ** (8 * made.BYTES_PER_ELEMENT) - 1;
  for (const [index, item] of list.items.entries()) {
    if (typeof item !== 'number' || !Number.isInteger(item) || item < 0 || item > max) {
      const found = typeof item === 'number' ? item : kindOf(item);
      throw pickleRefused(`${found} in an array of 0 to ${max}`, machine.at);
    }
    made[index] = item;
  }
  machine.spent.add(list);
  hold(machine, -BYTES_PER_REFERENCE * list.items.length);
  list.items.length = 0;
  return { kind: 'array', items: made };
}

function emptyArray(
  machine: PickleMachine,
  code: Pickled | undefined,
  length: number,
): PickledArray['items'] {
  if (code === 'B') return new Uint8Array(length);
  if (code === 'H') return new Uint16Array(length);
  if (code === 'I') return new Uint32Array(length);
  throw pickleRefused(`an array of type ${JSON.stringify(code)}`, machine.at);
}
