// A complaint: one place in the tree that breaks a house rule, and what to do. Pure data.

export interface Complaint {
  /** Path from the root of the checkout. */
  readonly file: string;
  /** 1-based; 0 when the complaint is about the file as a whole. */
  readonly line: number;
  readonly message: string;
}

/** Returns one line, in a form that terminals and editors make clickable. */
export function formatComplaint({ file, line, message }: Complaint): string {
  return line === 0 ? `${file}: ${message}` : `${file}:${line}: ${message}`;
}
