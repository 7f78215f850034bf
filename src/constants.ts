/** Debug type of launch.json. */
export const DEBUG_TYPE = 'toolbreak';
/** Section of the settings. */
export const SECTION = 'toolbreak';
/** View and panel of the timeline. */
export const TIMELINE_VIEW = 'toolbreak.timeline';
export const TIMELINE_EDITOR = 'toolbreak.timelineEditor';
