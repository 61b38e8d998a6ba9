"""Images: resizing and sampling, regions, boxes, colours, patches."""
