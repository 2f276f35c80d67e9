// Node leaves the path out of errors of an open file: `ENOSPC: no space left on device, write`.

/** For `.catch`: rethrows an error of the file system with this path, in Node's form. */
export function withPath(path: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof Error) || !('syscall' in error) || 'path' in error) throw error;
    throw Object.assign(error, { message: `${error.message} '${path}'`, path });
  };
}
