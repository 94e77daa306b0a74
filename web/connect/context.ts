import type { Texts } from '../languages/texts.ts';

/** The brand of the application that sent the users. Empty texts are not shown. */
export interface BrandView {
  /** The name of the application. */
  application: string;
  logoUrl: string;
  /** A style sheet with the application's color. */
  accentUrl: string;
  supportUrl: string;
  privacyUrl: string;
  termsUrl: string;
  /** The start page of the application, for pages that have no more specific link back to it. */
  homeUrl: string;
}

/** The language and the brand of a page for users. */
export interface PageContext {
  texts: Texts;
  brand: BrandView;
}

export const NO_BRAND: BrandView = {
  application: '',
  logoUrl: '',
  accentUrl: '',
  supportUrl: '',
  privacyUrl: '',
  termsUrl: '',
  homeUrl: '',
};
