import { createContext, Fragment, useContext } from 'react';

/**
 * Whether texts may be broken. In a row of a wide list, texts stay on one line. `<wbr>` is then left out, because it
 * allows a break even with `nowrap`.
 */
export const CanBreak = createContext(true);

/** Shows an identifier, an address or a name that may be broken after its separators, so that its words stay whole. */
export function Breakable({ text }: { text: string }) {
  if (!useContext(CanBreak)) return text;
  const parts = text.split(/(?<=[_./@:?&=,-])(?![_./@:?&=,-])/);
  return parts.map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other key
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
