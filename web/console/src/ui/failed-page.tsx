import { type Back, Page, Trouble } from './parts.tsx';

/** A page whose contents could not be loaded, with a way on. */
export function FailedPage({ title, error, back }: { title: string; error: unknown; back: Back }) {
  return (
    <Page title={title} back={back}>
      <Trouble error={error} />
    </Page>
  );
}
