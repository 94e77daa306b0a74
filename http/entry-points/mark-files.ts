import type { Express } from 'express';
import type { Catalogue } from '../../core/connectors/catalogue.ts';
import { type MarkImage, markImage } from '../../core/connectors/mark.ts';
import { ApiError } from '../../core/errors.ts';
import { corsForAll } from '../pipeline/cors.ts';
import { createStaticDocument, type StaticDocument } from '../responses/static-document.ts';
import { otherMethods, route } from './express-entry-point.ts';

export interface MarkFileDeps {
  readonly catalogue: Pick<Catalogue, 'connector'>;
}

const TYPE = 'image/svg+xml';
/** How long clients cache an icon whose URL does not contain its version. */
const UNVERSIONED_SECONDS = 60 * 60;

/**
 * This policy prevents scripts, external resources and access to this origin if a browser opens the image as a
 * document.
 */
const INERT = "default-src 'none'; sandbox";

/** Serves the icons of connectors. Applications show them on their own pages, so every origin may load them. */
export function addMarkFiles(app: Express, { catalogue }: MarkFileDeps): void {
  const documents = new Map<string, { image: MarkImage; versioned: StaticDocument; unversioned: StaticDocument }>();

  function documentsOf(identifier: string) {
    const connector = catalogue.connector(identifier);
    if (!connector?.mark) throw new ApiError('NOT_FOUND', 'The icon does not exist.');
    const image = markImage(identifier, connector.display_name, connector.mark);
    const known = documents.get(identifier);
    if (known?.image === image) return known;
    const made = {
      image,
      versioned: createStaticDocument(image.svg, { type: TYPE, isImmutable: true }),
      unversioned: createStaticDocument(image.svg, { type: TYPE, maxAgeSeconds: UNVERSIONED_SECONDS }),
    };
    documents.set(identifier, made);
    return made;
  }

  app
    .route('/icons/:name')
    .get(
      route(async ({ req, res, requestId }, { name = '' }) => {
        const [, identifier = ''] = /^([a-z0-9_-]+)\.svg$/.exec(name) ?? [];
        const { image, versioned, unversioned } = documentsOf(identifier);
        res.setHeaders(
          new Map(
            Object.entries({
              ...corsForAll(),
              'content-security-policy': INERT,
              'cross-origin-resource-policy': 'cross-origin',
              'x-request-id': requestId,
            }),
          ),
        );
        await (req.url === image.path ? versioned : unversioned)(req, res);
        return res.statusCode;
      }),
    )
    .all(otherMethods('GET', 'HEAD'));
}
