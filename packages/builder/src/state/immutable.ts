// Makes the type of parsed data deeply readonly.

/** Types with arbitrary member names, such as foreign JSON, stay unchanged. */
export type Immutable<Data> = Data extends object
  ? string extends keyof Data
    ? Data
    : { readonly [Member in keyof Data]: Immutable<Data[Member]> }
  : Data;
