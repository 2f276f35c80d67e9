// Data that was read by a schema, as everybody else has it: nobody changes it.

/** Members of any name, such as JSON of others, are as their type says. */
export type Immutable<Data> = Data extends object
  ? string extends keyof Data
    ? Data
    : { readonly [Member in keyof Data]: Immutable<Data[Member]> }
  : Data;
