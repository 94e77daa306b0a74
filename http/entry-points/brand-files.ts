import type { Express } from 'express';
import { BinaryBody } from '../../core/bodies/binary-body.ts';
import { ApiError } from '../../core/errors.ts';
import type { Store } from '../../db/store.ts';
import { accentStyles } from '../../web/connect/accent.ts';
import type { Environment } from '../pipeline/environments.ts';
import { respondUntyped } from '../responses/reply.ts';
import { otherMethods, route } from './express-entry-point.ts';

/** The URL changes with the content, so the content can be cached. */
const CACHED = 'public, max-age=86400';

/**
 * A logo is untrusted. This policy prevents scripts, external resources and access to this origin if a browser opens it
 * as a document.
 */
const INERT = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** Adds the routes for the logo and the accent color of an environment. */
export function addBrandFiles(app: Express, { store }: { readonly store: Pick<Store, 'read'> }): void {
  app
    .route('/connect/brand/logo')
    .get(
      route(async (exchange) => {
        exchange.name = 'brandLogo';
        const { id } = exchange.environment as Environment;
        const logo = await store.read.environmentLogos.get(id);
        if (!logo) throw new ApiError('NOT_FOUND', 'The environment has no logo.');
        return respondUntyped(200, new BinaryBody(logo.bytes), fileHeaders(logo.mediaType));
      }),
    )
    .all(otherMethods('GET', 'HEAD'));
  app
    .route('/connect/brand/accent.css')
    .get(
      route(async (exchange) => {
        exchange.name = 'brandAccent';
        const { accentColor } = (exchange.environment as Environment).settings;
        const styles = accentColor === undefined ? '' : accentStyles(accentColor);
        return respondUntyped(200, new BinaryBody(Buffer.from(styles)), fileHeaders('text/css; charset=utf-8'));
      }),
    )
    .all(otherMethods('GET', 'HEAD'));
}

function fileHeaders(type: string): Record<string, string> {
  return {
    'content-type': type,
    'content-security-policy': INERT,
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': CACHED,
  };
}
