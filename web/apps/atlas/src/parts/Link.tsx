import { Link as UiLink } from '@stoa/ui';
import { createLink } from '@tanstack/react-router';

/** A link to an address of this site: checked against the routes, loaded ahead when the pointer comes near. */
export const Link = createLink(UiLink);
