import { Fragment } from 'react';

/** Shows an identifier, an address or a name that may be broken after its separators, so that its words stay whole. */
export function Breakable({ text }: { text: string }) {
  const parts = text.split(/(?<=[_./@:?&=,-])(?![_./@:?&=,-])/);
  return parts.map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other key
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
