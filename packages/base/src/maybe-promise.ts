// A value, or a promise of one: what hardly ever waits need not pay for a promise. Pure.

/** Expected failures are rejections, never thrown, so that callers handle them in one place. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * Called once with the outcome: the result, or null and the error. If a function returns a promise,
 * its variant whose name ends in `For` takes such a callback: the path of every write.
 */
export type Callback<T> = (result: T | null, error: unknown) => void;

/** Converts a callback function to a promise. */
export function fromCallback<T>(begin: (onResult: Callback<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    begin((result, error) => {
      // Without an error there is a result, which may be null.
      if (error === null) resolve(result as T);
      else reject(error as Error);
    });
  });
}

/** Applies `make` to the value: at once if it is available. */
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
