// The values of a pickle: plain data, nothing executable. Pure.

export type Pickled =
  | null
  | boolean
  | number
  | string
  | PickledFloat
  | PickledList
  | PickledTuple
  | PickledDict
  | PickledArray
  | PickledGlobal
  | PickledInstance;

/** A float with a whole value. Other floats are plain numbers. */
export interface PickledFloat {
  readonly kind: 'float';
  readonly value: number;
}

export interface PickledList {
  readonly kind: 'list';
  readonly items: Pickled[];
}

export interface PickledTuple {
  readonly kind: 'tuple';
  readonly items: readonly Pickled[];
}

/** Members with string keys; members with other keys are read and dropped. */
export interface PickledDict {
  readonly kind: 'dict';
  readonly members: Map<string, Pickled>;
}

/** Python's `array.array` of type B, H or I. */
export interface PickledArray {
  readonly kind: 'array';
  readonly items: Uint8Array | Uint16Array | Uint32Array;
}

/** A name that may be called. The call never runs Python's meaning of it. */
interface PickledGlobal {
  readonly kind: 'global';
  readonly name: string;
}

/** An object of a Swift class: the class name and the members of its `__dict__`. */
export interface PickledInstance {
  readonly kind: 'instance';
  readonly name: string;
  readonly members: Map<string, Pickled>;
}

export function numberOf(value: Pickled | undefined): number | undefined {
  if (typeof value === 'object' && value?.kind === 'float') return value.value;
  return typeof value === 'number' ? value : undefined;
}

export function kindOf(value: Pickled | undefined): string {
  if (value === undefined) return 'absent';
  if (value === null) return 'None';
  return typeof value === 'object' ? value.kind : typeof value;
}
