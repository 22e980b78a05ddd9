import{a}from"./chunk-KWKJ7NPV.js";import"./chunk-U4ZSQP3H.js";import"./chunk-VIAWIBDG.js";export{a as Here};
