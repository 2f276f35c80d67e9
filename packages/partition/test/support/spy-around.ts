// Wraps a method of all objects of a class until the mocks are restored.
import { vi } from 'vitest';

interface Around {
  /** Called with the arguments of the method. */
  readonly before?: (...about: unknown[]) => unknown;
  /** Called with the result of the method. */
  readonly after?: (answer: unknown) => unknown;
}

/** Runs `before` and `after` around each call of a method that returns a promise. */
export function spyAround(
  prototype: object,
  name: string,
  { before = () => {}, after = () => {} }: Around,
): void {
  const { value } = Object.getOwnPropertyDescriptor(prototype, name) ?? {};
  vi.spyOn(prototype as Record<string, () => Promise<unknown>>, name).mockImplementation(
    async function (this: unknown, ...about) {
      await before(...about);
      const answer = await Reflect.apply(value, this, about);
      await after(answer);
      return answer;
    },
  );
}
