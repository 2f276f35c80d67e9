// A value that is there, or comes: what hardly ever waits does not pay for a promise. Pure.

/** Failures that are expected come as rejections, so that callers look for them in one place. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Called once with what came of something: its result, or else null and the error. Where a function
 * gives a promise, the one whose name adds `For` takes such a callback: the path of every write.
 */
export type Callback<T> = (result: T | null, error: unknown) => void;

/** A promise of what `begin` is told. */
export function promised<T>(begin: (onResult: Callback<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    begin((result, error) => {
      // Without an error there is a result, of which null may be one.
      if (error === null) resolve(result as T);
      else reject(error as Error);
    });
  });
}

/** What becomes of the value: at once when it is there. */
export function andThen<T, U>(
  value: MaybePromise<T>,
  make: (value: T) => MaybePromise<U>,
): MaybePromise<U> {
  return value instanceof Promise ? value.then(make) : make(value);
}

/** The value of `work`, or a rejection with what it throws. */
export function tryCall<T>(work: () => MaybePromise<T>): MaybePromise<T> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error as Error);
  }
}
