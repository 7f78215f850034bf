/** Style sheets are imported for the bundler's sake alone. */
declare module '*.css';
